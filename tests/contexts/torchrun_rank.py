"""One of two ranks that `torchrun` starts; both ask at the same time, and meet before and after."""

import questions
import torch.distributed

if __name__ == "__main__":
    torch.distributed.init_process_group("gloo")
    torch.distributed.barrier()
    questions.check()
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    print("ok\n", end="", flush=True)  # in one piece: the other rank writes to the same pipe
