// Shows times in the reader's time zone; without this script they are in UTC, and say so.
const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short" });
for (const time of document.querySelectorAll("time")) {
  if (!time.textContent.endsWith(" UTC")) continue;
  time.title = time.textContent;
  time.textContent = format.format(new Date(time.dateTime)).replace(" at ", ", ");
}
