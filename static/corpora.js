// Names the corpora that are chosen, also while the choice is folded.
const choice = document.querySelector("details.corpora");

choice.addEventListener("change", () => {
  const chosen = [...choice.querySelectorAll("input:checked")].map((box) => box.labels[0].textContent);
  const first = choice.querySelector("label").textContent; // which is searched if none is chosen
  document.getElementById("corpora-chosen").textContent = chosen.join(", ") || first;
});
