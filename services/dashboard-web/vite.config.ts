import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Builds the dashboard's pages into `dist`, or into the directory that `--outDir` names. */
export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    // All of them have `light-dark()`: without it the tokens would be compiled into twice the CSS.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // A data URL is no file of `script-src 'self'` or `font-src`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: false,
  },
});
