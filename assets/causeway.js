// Small comforts. Every page works without them.
'use strict';

// Copies what the button names, and says so.
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

// A form is sent once, however often its button is pressed; coming back to the page makes it usable again.
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  else if (form.method === 'post') form.dataset.sent = 'yes';
});
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// Brings the reader to what has to be looked at again.
document.getElementById('form-errors')?.focus();

// Buttons that need this script are hidden without it.
for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;
