"""Within the event loop, and in its worker threads, as trainers with asynchronous rewards do."""

import asyncio

import questions


async def main() -> None:
    questions.check()
    await asyncio.gather(*(asyncio.to_thread(questions.check) for _ in range(3)))


if __name__ == "__main__":
    asyncio.run(main())
    print("ok")
