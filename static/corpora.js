// Names the corpora that are chosen, also while the choice is folded, and remembers the switches.
const YEAR = 365 * 24 * 3600;
const choice = document.querySelector("details.corpora");
const switches = [...document.querySelectorAll(".also input")];

choice?.addEventListener("change", () => {
  const chosen = [...choice.querySelectorAll("input:checked")].map((box) => box.labels[0].textContent);
  const first = choice.querySelector("label").textContent; // which is searched if none is chosen
  document.getElementById("corpora-chosen").textContent = chosen.join(", ") || first;
});
for (const one of switches) {
  one.addEventListener("change", () => {
    const on = switches.filter((box) => box.checked).map((box) => box.value);
    document.cookie = `esoteric_also=${on.join(".")}; path=/; max-age=${YEAR}; samesite=lax`;
  });
}
