// A page for code that runs in browsers.
import { Window } from 'happy-dom';

/** Opens an empty page on another origin than the server, and makes it global, where React looks for it. */
export function openPage(): Window {
  const window = new Window({ url: 'https://charity.example/' });
  const { document, navigator } = window;
  for (const [name, value] of Object.entries({ window, document, navigator, IS_REACT_ACT_ENVIRONMENT: true })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return window;
}
