// Progressive enhancement. Every page works without this script.
'use strict';

// Copies the text of the element that the button names, and confirms it on the button.
document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    button.textContent = button.dataset.copied;
  } catch {
    getSelection().selectAllChildren(source);
  }
});

// Opens the share sheet of the device.
document.addEventListener('click', async (event) => {
  const { share: url, title } = event.target.closest('[data-share]')?.dataset ?? {};
  if (!url) return;
  try {
    await navigator.share({ title, url });
  } catch { /* The person closed the sheet. */ }
});

// Submits a form only once, even if its button is pressed repeatedly. Returning to the page enables it again.
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.dataset.submitted) event.preventDefault();
  else if (form.method === 'post') form.dataset.submitted = 'yes';
});
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.submitted;
});

// Shows times in the time zone of the visitor, with UTC in the tooltip. Without this script, they are in UTC and say so.
const EXACT = { year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit', timeZoneName: 'short' };
const formatter = (options) => new Intl.DateTimeFormat(document.documentElement.lang, options);
const local = formatter(EXACT);
const utc = formatter({ ...EXACT, timeZone: 'UTC' });
for (const time of document.querySelectorAll('time[datetime$="Z"]')) {
  const at = new Date(time.dateTime);
  time.title = `${local.format(at)} (${utc.format(at)})`;
  if ('local' in time.dataset) time.textContent = local.format(at);
}
const hour = formatter({ hour: 'numeric', minute: '2-digit' });
for (const label of document.querySelectorAll('[data-hour]')) label.textContent = hour.format(new Date(label.dataset.hour));
for (const note of document.querySelectorAll('[data-zone]')) {
  const zone = formatter({ timeZoneName: 'long' }).formatToParts().find((part) => part.type === 'timeZoneName');
  note.textContent = note.dataset.zone.replace('{zone}', zone.value);
}

// Public pages are the same for everybody, and offer to sign in.
if (document.cookie.split('; ').includes('causeway_signed_in=1')) {
  for (const label of document.querySelectorAll('[data-signed-in]')) label.textContent = label.dataset.signedIn;
}

// Beside the story, the button to give appears when the form has scrolled out of sight.
const giveNow = document.querySelector('.give-now');
const giveForm = document.getElementById('donate');
if (giveNow && giveForm) {
  new IntersectionObserver(([entry]) => giveNow.classList.toggle('in-reach', !entry.isIntersecting)).observe(giveForm);
}

// Links of the hosted service open the donation form by a fragment, such as `#/donate/card` or `#donate?amount=44`.
const openForm = () => {
  const form = document.getElementById('donate');
  const found = /^#\/?donate(?:\/(\w+))?(?:\?(.*))?$/.exec(location.hash);
  if (!found || form?.method !== 'get' || location.hash === '#donate') return;
  const [, method, values] = found;
  const url = new URL(form.action);
  url.search = location.search;
  if (method) url.searchParams.set('method', method);
  for (const [name, value] of new URLSearchParams(values)) url.searchParams.set(name, value);
  location.replace(url);
};
addEventListener('hashchange', openForm);
openForm();

// Moves the focus to the list of errors.
document.getElementById('form-errors')?.focus();

document.addEventListener('click', (event) => {
  if (event.target.closest('[data-print]')) window.print();
});

// Shows the buttons that need this script.
for (const button of document.querySelectorAll('[data-copy], [data-print]')) button.hidden = false;
if (navigator.share) for (const button of document.querySelectorAll('[data-share]')) button.hidden = false;
