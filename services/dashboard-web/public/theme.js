// Runs before the first paint, which would otherwise show the system's theme for a moment.
try {
  const { theme } = JSON.parse(localStorage.getItem('weir.settings') ?? '{}');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // No storage, or damaged settings: the system's theme.
}
