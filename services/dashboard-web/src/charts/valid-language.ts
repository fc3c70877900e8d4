/**
 * uPlot passes the browser's language to Intl when it is loaded. Chromium on a system without a locale
 * reports `en-US@posix`, which Intl rejects, and no chart would be drawn. Import this file before uPlot.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}
