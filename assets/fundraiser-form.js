// The form of a fundraiser: finds nonprofits while a person types, and uploads the picture as soon as it is chosen.
// Without this script, the form shows the matches of a name after it was sent, and the picture is sent with it.
'use strict';

for (const input of document.querySelectorAll('input[data-pick]')) {
  const { pick } = input.dataset;
  const row = input.closest('.picker');
  const details = row.querySelector('.picked');
  const list = document.createElement('ul');
  list.id = 'pick-list-' + pick;
  list.className = 'live';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', input.dataset.list);
  const status = document.createElement('p');
  status.className = 'unseen';
  status.setAttribute('role', 'status');
  input.after(list);
  row.append(status);
  for (const [name, value] of Object.entries({
    role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': list.id, 'aria-expanded': 'false',
  })) input.setAttribute(name, value);

  let requested = 0, shown = 0, selected = -1, isDismissed = false, statusTimer, found = [];

  const open = (isOpen) => {
    list.hidden = !isOpen;
    input.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) select(-1);
  };

  const select = (index) => {
    list.children[selected]?.setAttribute('aria-selected', 'false');
    selected = index;
    const option = list.children[selected];
    if (!option) return input.removeAttribute('aria-activedescendant');
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option.id);
  };

  // What tells nonprofits of the same name apart.
  const describe = ({ location, ein }) =>
    [location, ein && 'EIN ' + ein.slice(0, 2) + '-' + ein.slice(2)].filter(Boolean).join(' · ');

  const option = (nonprofit, index) => {
    const item = document.createElement('li');
    item.id = 'pick-' + pick + '-' + index;
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    const logo = document.createElement('img');
    logo.src = '/media/' + nonprofit.logoHostedId;
    logo.alt = '';
    logo.width = logo.height = 40;
    const name = document.createElement('strong');
    name.textContent = nonprofit.name;
    const about = document.createElement('span');
    about.className = 'small soft';
    about.textContent = describe(nonprofit);
    const text = document.createElement('div');
    text.append(name, about);
    item.append(logo, text);
    return item;
  };

  // The hidden fields hold the choice and the text that it was made for.
  const setChoice = (slug, text) => {
    row.querySelector('.matches')?.remove();
    for (const [name, value] of [['id_' + pick, slug], ['for_' + pick, text]]) {
      let field = row.querySelector('input[type=hidden][name=' + name + ']');
      if (!field) {
        field = Object.assign(document.createElement('input'), { type: 'hidden', name });
        row.append(field);
      }
      field.value = value;
    }
  };

  const choose = (nonprofit) => {
    input.value = nonprofit.name;
    setChoice(nonprofit.slug, nonprofit.name);
    details.textContent = describe(nonprofit);
    input.removeAttribute('aria-invalid');
    row.querySelector('.error')?.remove();
    shown = ++requested;
    open(false);
    status.textContent = nonprofit.name + ', ' + details.textContent;
  };

  input.addEventListener('input', async () => {
    const number = ++requested;
    isDismissed = false;
    details.textContent = '';
    setChoice('', '');
    const text = input.value.trim();
    if (!text) { shown = number; status.textContent = ''; return open(false); }
    try {
      const response = await fetch(input.dataset.live + '?q=' + encodeURIComponent(text));
      if (!response.ok) return;
      const { nonprofits } = await response.json();
      // Ignore a response that arrives after a newer one.
      if (number <= shown) return;
      shown = number;
      found = nonprofits.filter((nonprofit) => nonprofit.isDisbursable !== false);
      list.replaceChildren(...found.map(option));
      selected = -1;
      input.removeAttribute('aria-activedescendant');
      open(found.length > 0 && !isDismissed && document.activeElement === input);
      clearTimeout(statusTimer);
      const count = found.length;
      statusTimer = setTimeout(() => {
        const { none, one, many } = input.dataset;
        status.textContent = [none, one][count] ?? many.replace('{count}', count);
      }, 400);
    } catch { /* The form still works. */ }
  });

  input.addEventListener('keydown', (event) => {
    const count = list.children.length;
    if (event.key === 'Escape') { isDismissed = true; if (!list.hidden) { event.preventDefault(); open(false); } }
    else if (event.key === 'ArrowDown' && count) { event.preventDefault(); if (list.hidden) open(true); select((selected + 1) % count); }
    else if (event.key === 'ArrowUp' && count && !list.hidden) { event.preventDefault(); select(selected <= 0 ? count - 1 : selected - 1); }
    else if (event.key === 'Enter' && selected >= 0 && !list.hidden) { event.preventDefault(); choose(found[selected]); }
  });
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', (event) => {
    const index = [...list.children].indexOf(event.target.closest('[role=option]'));
    if (index >= 0) choose(found[index]);
  });
  input.addEventListener('blur', () => open(false));
}

for (const field of document.querySelectorAll('[data-upload]')) {
  const input = field.querySelector('input[type=file]');
  const token = field.querySelector('input[name=picture]');
  const image = field.querySelector('img');
  const progress = field.querySelector('progress');
  const status = field.querySelector('[role=status]');
  const remove = field.querySelector('.remove-picture');
  const texts = field.dataset;
  let request;

  const end = (text, isError) => {
    progress.hidden = true;
    status.textContent = text;
    status.classList.toggle('error', isError);
  };

  input.addEventListener('change', () => {
    request?.abort();
    const file = input.files[0];
    if (!file) return;
    if (file.size > Number(texts.max)) { input.value = ''; return end(texts.tooLarge, true); }
    request = new XMLHttpRequest();
    request.open('POST', texts.upload);
    request.responseType = 'json';
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable) progress.value = (100 * event.loaded) / event.total;
    });
    request.addEventListener('load', ({ target: { status: code, response } }) => {
      if (code === 200 && response?.token) {
        token.value = response.token;
        image.src = response.url;
        image.hidden = remove.hidden = false;
        remove.querySelector('input').checked = false;
        field.querySelector('.error')?.remove();
        // The token stands for the picture now.
        input.value = '';
        end(texts.uploaded, false);
      } else if (response?.error) {
        input.value = '';
        end(response.error.charAt(0).toUpperCase() + response.error.slice(1) + '.', true);
      } else end(texts.failed, true);
    });
    request.addEventListener('error', () => end(texts.failed, true));
    progress.value = 0;
    progress.hidden = false;
    status.classList.remove('error');
    status.textContent = texts.uploading;
    request.send(file);
  });
}

// The picture of the form shows the part that was chosen.
const across = document.getElementById('focusX');
const down = document.getElementById('focusY');
const shown = document.querySelector('.picture-preview');
if (across && down && shown) {
  const showPart = () => {
    shown.className = 'picture-preview focus-x-' + across.value + ' focus-y-' + down.value;
  };
  across.addEventListener('change', showPart);
  down.addEventListener('change', showPart);
  showPart();
}
