import type { Causeway } from './client.js';
import type { SearchItem } from './generated/types.gen.js';
import { SearchAsYouType, type SearchAsYouTypeOptions, type SearchState } from './search-as-you-type.js';

export interface ComboboxOptions extends SearchAsYouTypeOptions {
  client: Pick<Causeway, 'search'>;
  /** The text field. It needs a label. */
  input: HTMLInputElement;
  /** An empty element for the options, such as a `ul`. It is hidden while there are none. */
  listbox: HTMLElement;
  /** Called when the user chooses a nonprofit. */
  onSelect: (nonprofit: SearchItem) => void;
  /** Fills in the option of a nonprofit. By default, its name and location. */
  renderOption?: (nonprofit: SearchItem, option: HTMLElement) => void;
  /** An element that announces the number of results to screen readers. One is added after the listbox by default. */
  status?: HTMLElement;
  /** The announcement for a number of results. */
  describeResults?: (count: number) => string;
}

export interface Combobox {
  readonly search: SearchAsYouType;
  /** Removes all listeners and options. */
  destroy(): void;
}

let comboboxes = 0;

/**
 * Makes a text field a combobox of nonprofits: the WAI-ARIA pattern "editable combobox with list autocomplete", without
 * any styles. Focus stays in the text field. Style `[role=option][aria-selected=true]`.
 */
export function createCombobox(options: ComboboxOptions): Combobox {
  const { client, input, listbox, onSelect, ...rest } = options;
  const { renderOption = renderNameAndLocation, status, describeResults = describeCount, ...searchOptions } = rest;
  const search = new SearchAsYouType(client, searchOptions);
  const id = listbox.id || `causeway-listbox-${++comboboxes}`;
  const announcer = status ?? addAnnouncer(listbox);
  let nonprofits: readonly SearchItem[] = [];
  let active = -1;

  listbox.id = id;
  listbox.setAttribute('role', 'listbox');
  if (!listbox.hasAttribute('aria-label')) listbox.setAttribute('aria-label', 'Nonprofits');
  const attributes = { role: 'combobox', autocomplete: 'off', 'aria-autocomplete': 'list', 'aria-controls': id };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);

  const isOpen = () => !listbox.hidden;
  const setOpen = (open: boolean) => {
    listbox.hidden = !open;
    input.setAttribute('aria-expanded', String(open));
    if (!open) activate(-1);
  };

  const activate = (index: number) => {
    listbox.children[active]?.setAttribute('aria-selected', 'false');
    active = index;
    const option = listbox.children[index];
    if (!option) return input.removeAttribute('aria-activedescendant');
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView?.({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option.id);
  };

  const select = (index: number) => {
    const nonprofit = nonprofits[index];
    if (!nonprofit) return;
    input.value = nonprofit.name;
    search.stop();
    setOpen(false);
    onSelect(nonprofit);
  };

  const render = (state: SearchState) => {
    listbox.setAttribute('aria-busy', String(state.status === 'loading'));
    if (state.status === 'loading') return;
    if (state.status === 'error') announcer.textContent = '';
    if (state.nonprofits !== nonprofits) {
      activate(-1);
      nonprofits = state.nonprofits;
      listbox.replaceChildren(...nonprofits.map(createOption));
    }
    setOpen(nonprofits.length > 0 && state.status === 'ready' && input.ownerDocument.activeElement === input);
    if (state.status !== 'error') announcer.textContent = state.status === 'ready' ? describeResults(nonprofits.length) : '';
  };

  const createOption = (nonprofit: SearchItem, index: number) => {
    const option = input.ownerDocument.createElement(/^[uo]l$/i.test(listbox.tagName) ? 'li' : 'div');
    option.id = `${id}-${index}`;
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    renderOption(nonprofit, option);
    return option;
  };

  /** Up and down pass the text field, where no option is active, between the last option and the first. */
  const move = (step: number) => {
    const places = nonprofits.length + 1;
    activate(((active + 1 + step + places) % places) - 1);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes text, its keys are not ours.
    if (event.isComposing || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const isArrow = event.key === 'ArrowDown' || event.key === 'ArrowUp';
    if (isArrow && nonprofits.length > 0) {
      if (event.altKey) setOpen(event.key === 'ArrowDown');
      else {
        if (!isOpen()) setOpen(true);
        move(event.key === 'ArrowDown' ? 1 : -1);
      }
    } else if (event.key === 'Enter' && isOpen() && active >= 0) {
      select(active);
    } else if (event.key === 'Escape' && isOpen()) {
      setOpen(false);
    } else if (event.key === 'Escape' && input.value) {
      input.value = '';
      search.clear();
    } else {
      return;
    }
    event.preventDefault();
  };

  const findOption = (event: Event) =>
    [...listbox.children].findIndex((option) => option.contains(event.target as Node));
  const onInput = () => {
    activate(-1);
    search.type(input.value);
  };
  const onBlur = () => setOpen(false);
  // Focus stays in the text field when an option is pressed.
  const onPointerDown = (event: Event) => event.preventDefault();
  const onClick = (event: Event) => select(findOption(event));

  setOpen(false);
  const unsubscribe = search.subscribe(render);
  input.addEventListener('input', onInput);
  input.addEventListener('keydown', onKeyDown);
  input.addEventListener('blur', onBlur);
  listbox.addEventListener('mousedown', onPointerDown);
  listbox.addEventListener('click', onClick);

  return {
    search,
    destroy() {
      unsubscribe();
      search.stop();
      input.removeEventListener('input', onInput);
      input.removeEventListener('keydown', onKeyDown);
      input.removeEventListener('blur', onBlur);
      listbox.removeEventListener('mousedown', onPointerDown);
      listbox.removeEventListener('click', onClick);
      for (const name of [...Object.keys(attributes), 'aria-expanded', 'aria-activedescendant']) input.removeAttribute(name);
      listbox.replaceChildren();
      listbox.hidden = true;
      if (!status) announcer.remove();
    },
  };
}

/** Texts of the directory are never read as HTML. */
function renderNameAndLocation(nonprofit: SearchItem, option: HTMLElement): void {
  option.textContent = [nonprofit.name, nonprofit.location].filter(Boolean).join(', ');
}

function describeCount(count: number): string {
  if (count === 0) return 'No nonprofits found.';
  return count === 1 ? '1 nonprofit found.' : `${count} nonprofits found.`;
}

/** Visible to screen readers only. Set as properties, because a strict content security policy forbids style attributes. */
function addAnnouncer(listbox: HTMLElement): HTMLElement {
  const announcer = listbox.ownerDocument.createElement('div');
  announcer.setAttribute('role', 'status');
  const hidden = { position: 'absolute', width: '1px', height: '1px', overflow: 'hidden', clipPath: 'inset(50%)', whiteSpace: 'nowrap' };
  Object.assign(announcer.style, hidden);
  listbox.after(announcer);
  return announcer;
}
