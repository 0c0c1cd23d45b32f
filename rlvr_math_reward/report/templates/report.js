"use strict";
const find = (selector, root = document) => [...root.querySelectorAll(selector)];

// Long lists start folded; without this script they are whole.
for (const list of find(".cases, table")) {
  const more = find(".more", list).length;
  if (!more) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "unfold";
  button.textContent = `Show ${more} more`;
  button.addEventListener("click", () => { list.classList.remove("folded"); button.remove(); });
  list.classList.add("folded");
  (list.closest(".scroll") ?? list).after(button);
}

// Charts: the pointer or the arrow keys read the values of a step off into the legend.
for (const area of find(".area")) {
  const {at, steps, curves} = JSON.parse(area.dataset.readings);
  const cursor = area.querySelector(".cursor");
  const legend = area.closest(".chart").querySelector(".legend");
  const [label, ...items] = legend.children;
  const last = steps.length - 1;
  let place = last;
  const read = (index, visible) => {
    place = index;
    cursor.hidden = !visible;
    cursor.style.left = `${100 * at[index]}%`;
    label.textContent = visible ? `step ${steps[index]}` : "last step";
    items.forEach((item, n) => { item.querySelector("b").textContent = curves[n].texts[index]; });
    if (visible) {
      const values = curves.map((curve) => `${curve.name} ${curve.texts[index]}`).join(", ");
      area.setAttribute("aria-label", `step ${steps[index]}: ${values}`);
    }
  };
  area.addEventListener("pointermove", (event) => {
    const box = area.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width;
    read(at.reduce((best, value, n) => Math.abs(value - x) < Math.abs(at[best] - x) ? n : best, 0), true);
  });
  area.addEventListener("pointerleave", () => read(last, false));
  area.addEventListener("blur", () => read(last, false));
  area.addEventListener("keydown", (event) => {
    const moved = {ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: last}[event.key];
    if (moved === undefined) return;
    event.preventDefault();
    read(Math.min(Math.max(moved, 0), last), true);
  });
}

// Completions: the filters live in the address, so that a view can be linked to and gone back to.
const form = document.querySelector(".filters");
const box = document.querySelector("#rows");
const rows = find(".row", box);
const texts = new Map();
const text = (row) => {
  if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
  return texts.get(row);
};
const toggles = find(".toggle", form);
let group = "";
const chosen = (kind) => toggles.filter((t) => t.dataset[kind] && t.ariaPressed === "true").map((t) => t.dataset[kind]);

function inRange(step, wanted) {
  const [, from, dash, to] = wanted.match(/^\s*(\d*)\s*(-?)\s*(\d*)\s*$/) ?? [];
  if (from === undefined || !(from || to)) return true;
  return dash ? step >= Number(from || 0) && step <= Number(to || Infinity) : step === Number(from);
}

function apply() {
  const outcomes = chosen("outcome"), flags = chosen("flag");
  const query = form.q.value.trim().toLowerCase(), step = form.step.value;
  let count = 0;
  for (const row of rows) {
    const data = row.dataset;
    row.hidden = !((!outcomes.length || outcomes.includes(data.outcome)) && (!flags.length || flags.includes(data.flag))
      && (!group || data.group === group) && inRange(Number(data.step), step) && (!query || text(row).includes(query)));
    count += !row.hidden;
  }
  form.status.value = `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown${group ? ", one group" : ""}`;
  form.querySelector(".clear").hidden = count === rows.length;
}

function sort() {
  const by = form.sort.value.replace("-", ""), sign = form.sort.value.startsWith("-") ? -1 : 1;
  rows.sort((a, b) => sign * (a.dataset[by] - b.dataset[by]));
  box.append(...rows);
}

function state() {
  const fields = new URLSearchParams();
  for (const kind of ["outcome", "flag"]) if (chosen(kind).length) fields.set(kind, chosen(kind).join(","));
  for (const name of ["q", "step"]) if (form[name].value.trim()) fields.set(name, form[name].value.trim());
  if (group) fields.set("group", group);
  if (form.sort.value !== "step") fields.set("sort", form.sort.value);
  return fields.toString();
}

function fromAddress() {
  const hash = decodeURI(location.hash.slice(1));
  if (/^row-\d+$/.test(hash)) {
    const row = document.getElementById(hash);
    if (!row) return;
    if (row.hidden || !form.status.value) { reset(); apply(); }
    row.open = true;
    row.scrollIntoView();
    row.querySelector("summary").focus({preventScroll: true});
    return;
  }
  const fields = new URLSearchParams(location.hash.slice(1));
  const known = ["outcome", "flag", "q", "step", "group", "sort"].some((name) => fields.has(name));
  if (location.hash && !known && form.status.value) return;
  reset();
  for (const toggle of toggles) {
    const kind = toggle.dataset.outcome ? "outcome" : "flag";
    toggle.ariaPressed = String((fields.get(kind) ?? "").split(",").includes(toggle.dataset[kind]));
  }
  form.q.value = fields.get("q") ?? "";
  form.step.value = fields.get("step") ?? "";
  group = fields.get("group") ?? "";
  if (fields.get("sort")) { form.sort.value = fields.get("sort"); if (form.sort.selectedIndex < 0) form.sort.value = "step"; }
  sort();
  apply();
  if (known) form.scrollIntoView();
}

function reset() {
  for (const toggle of toggles) toggle.ariaPressed = "false";
  form.q.value = form.step.value = group = "";
  form.sort.value = "step";
}

function changed() {
  apply();
  history.replaceState(null, "", state() ? `#${state()}` : location.pathname + location.search);
}

let waiting;
form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(changed, 120); });
form.addEventListener("submit", (event) => event.preventDefault());
form.sort.addEventListener("change", () => { sort(); changed(); });
for (const toggle of toggles) {
  toggle.addEventListener("click", () => { toggle.ariaPressed = String(toggle.ariaPressed !== "true"); changed(); });
}
form.querySelector(".clear").addEventListener("click", () => { reset(); sort(); changed(); form.q.focus(); });
window.addEventListener("hashchange", fromAddress);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
  if (event.key === "/") { event.preventDefault(); form.q.focus(); }
  if (event.key !== "j" && event.key !== "k") return;
  const shown = rows.filter((row) => !row.hidden);
  const here = shown.indexOf(document.activeElement.closest(".row"));
  const next = shown[event.key === "j" ? here + 1 : Math.max(here - 1, 0)];
  if (next) next.querySelector("summary").focus();
});
form.hidden = false;
fromAddress();
