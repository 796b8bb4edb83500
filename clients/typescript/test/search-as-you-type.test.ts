// Search as you type: the class, the React hook and the combobox, in front of the real server.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Window } from 'happy-dom';
import { createElement, useState } from 'react';
import { Causeway, type SearchItem, type SearchState } from '../dist/index.js';
import { createCombobox, type Combobox } from '../dist/combobox.js';
import { useNonprofitSearch } from '../dist/react.js';
import { openPage } from './page.js';
import { startProxy, startServer, until, type Fault, type Proxy, type Server } from './server.js';

let server: Server;
let proxy: Proxy;
let client: Causeway;

before(async () => {
  server = await startServer();
  proxy = await startProxy(server.baseUrl);
  client = new Causeway({ ...server, baseUrl: proxy.baseUrl, maxRetries: 0 });
});
after(async () => {
  await proxy?.stop();
  await server?.stop();
});
beforeEach(() => {
  proxy.faults = [];
  proxy.requests = [];
});

const terms = () => proxy.requests.map(({ line }) => decodeURIComponent(/search\/([^?]*)/.exec(line)![1]!));

/** Holds an answer back until it is released. */
function hold(): { fault: Fault; release: () => void; isCanceled: () => boolean } {
  let release = () => {};
  let isCanceled = false;
  const released = new Promise<void>((resolve) => (release = resolve));
  const fault: Fault = async ({ response, forward }) => {
    response.once('close', () => (isCanceled = true));
    await released;
    await forward();
  };
  return { fault, release, isCanceled: () => isCanceled };
}

describe('SearchAsYouType', () => {
  test('waits for a pause', async () => {
    const search = client.searchAsYouType({ debounce: 40, take: 2 });
    for (const term of ['r', 're', 'red', 'red cro']) search.type(term);
    assert.equal(search.state.status, 'loading');
    await until(() => search.state.status === 'ready');
    assert.deepEqual(terms(), ['red cro']);
    assert.match(proxy.requests[0]!.line, /take=2/);
    assert.equal(search.state.nonprofits[0]?.slug, 'american-red-cross');
  });

  test('cancels stale calls and never shows an older answer after a newer one', async () => {
    const slow = hold();
    proxy.faults = [slow.fault];
    const search = client.searchAsYouType({ debounce: 0 });
    const states: SearchState[] = [];
    search.subscribe((state) => states.push(state));
    search.type('habitat');
    await until(() => proxy.requests.length === 1);
    search.type('red cross');
    await until(() => search.state.status === 'ready');
    await until(slow.isCanceled);
    slow.release();
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(states.map(({ term, status }) => `${term} ${status}`), ['habitat loading', 'red cross loading', 'red cross ready']);
  });

  test('does not trust the client to cancel', async () => {
    const answers: ((names: SearchItem[]) => void)[] = [];
    const stubborn = { search: () => new Promise<{ nonprofits: SearchItem[] }>((resolve) => answers.push((nonprofits) => resolve({ nonprofits }))) };
    const { SearchAsYouType } = await import('../dist/index.js');
    const search = new SearchAsYouType(stubborn, { debounce: 0 });
    search.type('old');
    await until(() => answers.length === 1);
    search.type('new');
    await until(() => answers.length === 2);
    answers[1]!([{ name: 'New' } as SearchItem]);
    await until(() => search.state.status === 'ready');
    answers[0]!([{ name: 'Old' } as SearchItem]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(search.state.nonprofits[0]?.name, 'New');
  });

  test('keeps results while it loads and after an error, and forgets them when cleared', async () => {
    const search = client.searchAsYouType({ debounce: 0, minLength: 3 });
    search.type('re');
    assert.equal(search.state.status, 'idle');
    search.type('red cross');
    await until(() => search.state.status === 'ready');
    proxy.faults = [({ request }) => void request.socket.destroy()];
    search.type('red cross x');
    assert.ok(search.state.nonprofits.length > 0);
    await until(() => search.state.status === 'error');
    assert.ok(search.state.nonprofits.length > 0);
    search.filter({ causes: ['animals'] });
    await until(() => search.state.status === 'ready');
    assert.match(proxy.requests.at(-1)!.line, /causes=animals/);
    search.clear();
    assert.deepEqual(search.state, { term: '', status: 'idle', nonprofits: [], error: undefined });
  });
});

describe('in a page', () => {
  let window: Window;

  before(() => {
    window = openPage();
  });
  after(() => window.close());
  afterEach(() => document.body.replaceChildren());

  test('the React hook follows the term of a text field', async () => {
    const { createRoot } = await import('react-dom/client');
    const { act } = await import('react');
    let typeTerm = (_: string) => {};
    let state: SearchState | undefined;
    function Box() {
      const [term, setTerm] = useState('');
      typeTerm = setTerm;
      // A new object on every render must not start a new search.
      state = useNonprofitSearch(client, term, { debounce: 10, take: 3 });
      return createElement('p', null, state.nonprofits.map(({ name }) => name).join());
    }
    const root = createRoot(document.body.appendChild(document.createElement('div')));
    await act(async () => root.render(createElement(Box)));
    await act(async () => typeTerm('red'));
    await act(async () => typeTerm('red cross'));
    // React renders when `act` ends.
    while (state?.status !== 'ready') await act(async () => new Promise((resolve) => setTimeout(resolve, 20)));
    assert.match(document.body.textContent ?? '', /American Red Cross/);
    assert.deepEqual(terms(), ['red cross']);
    const slow = hold();
    proxy.faults = [slow.fault];
    await act(async () => typeTerm('habitat'));
    await until(() => proxy.requests.length === 2);
    await act(async () => root.unmount());
    await until(slow.isCanceled);
    slow.release();
  });

  describe('the combobox', () => {
    let input: HTMLInputElement;
    let listbox: HTMLElement;
    let selected: SearchItem[];
    let combobox: Combobox;

    beforeEach(() => {
      document.body.innerHTML = '<label for="search">Nonprofit</label><input id="search"><ul id="options"></ul>';
      input = document.querySelector('input')!;
      listbox = document.querySelector('ul')!;
      selected = [];
      combobox = createCombobox({ client, input, listbox, debounce: 0, onSelect: (nonprofit) => selected.push(nonprofit) });
      input.focus();
    });
    afterEach(() => combobox.destroy());

    const type = async (term: string) => {
      input.value = term;
      input.dispatchEvent(new window.Event('input', { bubbles: true }) as unknown as Event);
      await until(() => combobox.search.state.status === 'ready');
    };
    const press = (key: string, init = {}) => {
      const event = new window.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init });
      input.dispatchEvent(event as unknown as Event);
      return event.defaultPrevented;
    };
    const options = () => [...listbox.querySelectorAll('[role=option]')];
    const active = () => document.getElementById(input.getAttribute('aria-activedescendant') ?? '');

    test('has the roles and states of the pattern', async () => {
      assert.equal(input.getAttribute('role'), 'combobox');
      assert.equal(input.getAttribute('aria-autocomplete'), 'list');
      assert.equal(input.getAttribute('aria-controls'), 'options');
      assert.equal(input.getAttribute('aria-expanded'), 'false');
      assert.equal(listbox.getAttribute('role'), 'listbox');
      assert.ok(listbox.hidden);
      await type('red cross');
      assert.equal(input.getAttribute('aria-expanded'), 'true');
      assert.ok(!listbox.hidden);
      assert.match(options()[0]!.textContent ?? '', /^American Red Cross, /);
      assert.match(document.querySelector('[role=status]')?.textContent ?? '', /nonprofits? found/);
      await type('xqjzk');
      assert.ok(listbox.hidden);
      assert.equal(document.querySelector('[role=status]')?.textContent, 'No nonprofits found.');
    });

    test('is used by keyboard', async () => {
      await type('the');
      assert.ok(options().length > 2);
      assert.equal(press('Enter'), false, 'without an active option, Enter submits the form');
      press('ArrowDown');
      assert.equal(active(), options()[0]);
      assert.equal(options()[0]!.getAttribute('aria-selected'), 'true');
      press('ArrowUp');
      assert.equal(active(), null);
      press('ArrowUp');
      assert.equal(active(), options().at(-1));
      press('ArrowDown');
      press('ArrowDown');
      press('ArrowDown');
      assert.equal(active(), options()[1]);
      assert.equal(listbox.querySelectorAll('[aria-selected=true]').length, 1);
      press('Escape');
      assert.ok(listbox.hidden);
      assert.equal(input.value, 'the');
      press('ArrowDown', { altKey: true });
      assert.ok(!listbox.hidden);
      assert.equal(active(), null);
      press('ArrowDown', { isComposing: true });
      assert.equal(active(), null);
      press('ArrowDown');
      assert.ok(press('Enter'));
      assert.equal(selected.length, 1);
      assert.equal(input.value, selected[0]!.name);
      assert.ok(listbox.hidden);
      press('Escape');
      assert.equal(input.value, '');
    });

    test('is used by mouse, and closes when focus leaves', async () => {
      await type('red cross');
      const press = new window.MouseEvent('mousedown', { bubbles: true, cancelable: true });
      options()[0]!.dispatchEvent(press as unknown as Event);
      assert.ok(press.defaultPrevented, 'focus stays in the text field');
      options()[0]!.dispatchEvent(new window.MouseEvent('click', { bubbles: true }) as unknown as Event);
      assert.equal(selected[0]?.slug, 'american-red-cross');
      await type('habitat');
      input.blur();
      assert.ok(listbox.hidden);
    });

    test('never reads names as HTML', async () => {
      combobox.destroy();
      const nonprofits = [{ name: '<img src=x>', location: '<b>' } as SearchItem];
      combobox = createCombobox({ client: { search: async () => ({ nonprofits }) }, input, listbox, debounce: 0, onSelect: () => {} });
      await type('x');
      assert.equal(listbox.querySelector('img, b'), null);
      assert.equal(options()[0]!.textContent, '<img src=x>, <b>');
    });
  });
});
