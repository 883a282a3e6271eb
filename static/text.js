// Counts the claims that are ticked, and ticks a claim whose words were changed.
const form = document.getElementById("choice");
const count = document.getElementById("count");
const spoken = document.getElementById("count-spoken");

function recount() {
  const ticked = form.querySelectorAll('[name="take"]:checked').length;
  const words = `${ticked} ${ticked === 1 ? "claim" : "claims"}`;
  if (count.textContent === words) return;
  count.textContent = words;
  spoken.textContent = `${words} to check`;
}

form?.addEventListener("input", (event) => {
  const field = event.target;
  if (field.name.startsWith("claim-")) {
    document.getElementById(field.id.replace("claim-", "take-")).checked =
      field.value.trim() !== "";
  }
  recount();
});

// A claim is one line: Enter sends the form, as it does in other fields.
form?.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.localName === "textarea" && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});

document.querySelector(".recipes")?.addEventListener("change", (event) => {
  document.getElementById("recipe-chosen").textContent = event.target.value;
});

if (form) recount();
