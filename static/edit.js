// Selects the words of an edited claim that its evidence contradicts or leaves open.
const field = document.getElementById("claim");
const words = document.querySelector("[data-select]").dataset.select;
const start = words ? field.value.indexOf(words) : -1;
if (start < 0) field.setSelectionRange(field.value.length, field.value.length);
else field.setSelectionRange(start, start + words.length);
