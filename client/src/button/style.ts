// The button's own look, which a page changes by custom properties, or from outside by parts.
export const STYLE = `
:host {
  --_accent: var(--node-ledger-accent, light-dark(#4338ca, #4f46e5));
  --_on-accent: var(--node-ledger-on-accent, #fff);
  --_ink: var(--node-ledger-ink, light-dark(#141824, #e9ecf4));
  --_surface: var(--node-ledger-surface, light-dark(#fff, #151923));
  --_line: var(--node-ledger-line, light-dark(#8b93a7, #6b7488));
  --_radius: var(--node-ledger-radius, 9px);
  display: inline-block;
  max-width: 100%;
  font: var(--node-ledger-font, 1rem/1.45 system-ui, sans-serif);
  color: var(--_ink);
}
:host([hidden]) { display: none }
:host([framed]) { display: block }
* { box-sizing: border-box; font: inherit }
button {
  min-height: 44px;
  padding: 0.6em 1.2em;
  border: 1px solid transparent;
  border-radius: var(--_radius);
  cursor: pointer;
}
.pay { background: var(--_accent); color: var(--_on-accent); font-weight: 600 }
.quiet { background: var(--_surface); color: var(--_ink); border-color: var(--_line) }
button:disabled { cursor: not-allowed; opacity: 0.6 }
:focus-visible { outline: 3px solid var(--_accent); outline-offset: 2px }
.panel {
  display: grid;
  gap: 0.6em;
  max-width: 26em;
  margin-top: 0.6em;
  padding: 0.8em 1em;
  border: 1px solid var(--_line);
  border-radius: var(--_radius);
  background: var(--_surface);
}
.panel:not(:has(> :not([hidden]))), [hidden] { display: none !important }
p, ul { margin: 0; padding: 0 }
ul { display: grid; gap: 0.4em; list-style: none }
ul button { display: flex; align-items: center; gap: 0.6em; width: 100% }
img { width: 24px; height: 24px }
label { display: flex; gap: 0.6em }
a { color: inherit; text-underline-offset: 0.2em }
iframe { width: 100%; height: var(--node-ledger-frame-height, 760px); border: 0; border-radius: var(--_radius) }
`
