/**
 * uPlot gives the browser's language to Intl while it is loaded. Chromium on a system without a locale has the language
 * `en-US@posix`, which Intl refuses: no chart would be drawn. Import this file before uPlot.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
}
