/**
 * Cuts the section of a version from the text of CHANGELOG.md, with its heading.
 *
 * @throws Error when it has none.
 */
export function cutNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find((one) => one.split(/\s+/)[1] === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  return section.trim();
}
