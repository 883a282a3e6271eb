// Says how many claims are selected, and offers what can be done with so many.
const form = document.getElementById("selection");
const said = document.getElementById("how-many");
const empty = said?.textContent;

function count() {
  const number = form.querySelectorAll('input[name="claim"]:checked').length;
  const text = number ? `${number} selected` : empty;
  if (said.textContent !== text) said.textContent = text;
  for (const button of form.querySelectorAll("button")) {
    button.disabled = number < (button.value === "compare" ? 2 : 1);
  }
}

form?.addEventListener("change", count);
// A page that the browser kept has its ticks again only when it is shown.
if (form) window.addEventListener("pageshow", count);
