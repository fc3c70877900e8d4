import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Modules of one chunk, each with what no group before has: fifty small chunks compress badly. */
const groups = [
  { name: 'frame', test: /src\/(main|layout\/layout|(?:ui|table)\/|api\/|format\/|settings\/|space\/)/ },
  { name: 'overview', test: /src\/pages\/overview\// },
  {
    name: 'settings',
    test: /src\/pages\/(api-keys|audit|invitation|members|no-space|prices|profile|quarantine|second-factor|usage)[/.]/,
  },
];

/** Builds the dashboard's pages into `dist`, or into the directory that `--outDir` names. */
export default defineConfig({
  plugins: [react(), tailwindcss()],
  // The files find each other below any path; the server completes those that index.html names.
  base: './',
  build: {
    // All of them have `light-dark()`: without it the tokens would be compiled into twice the CSS.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // A data URL is no file of `script-src 'self'` or `font-src`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups },
      },
    },
  },
});
