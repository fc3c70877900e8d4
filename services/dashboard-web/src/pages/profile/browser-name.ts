/** Browsers by token. Browsers also name products they derive from: the first match counts. */
const browsers: [token: RegExp, name: string][] = [
  [/\b(?:Edg|EdgA|EdgiOS)\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\b(?:Chrome|HeadlessChrome|CriOS|Chromium)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+)[\d.]*(?: Mobile\/\w+)? Safari\//, 'Safari'],
];

const systems: [token: RegExp, name: string][] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** A readable user agent, such as `Firefox 121 on Linux`. Unknown ones are returned unchanged. */
export function nameBrowser(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'unknown';
  for (const [token, name] of browsers) {
    const version = token.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = systems.find(([sign]) => sign.test(userAgent))?.[1];
    return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`;
  }
  return userAgent;
}
