/** What tcsh calls the maker of the machine, on the platforms that Node runs on. */
const tcshVendors = ['unknown', 'intel', 'amd', 'apple', 'ibm', 'sun'];

/**
 * Finds a `VENDOR` that was set for Weir, before the variable was renamed to `WEIR_VENDOR`. Ignoring it would reject
 * every event of the operator's vendor. But tcsh exports a `VENDOR` too, always together with the three other variables
 * here: users of tcsh must be able to start Weir. Remove this in the release after the next.
 *
 * @returns the message for the operator, or undefined.
 */
export function findOldVendor(env: Record<string, string | undefined>): string | undefined {
  const { VENDOR, WEIR_VENDOR } = env;
  if (!VENDOR || WEIR_VENDOR) return undefined;
  const isTcsh = ['HOSTTYPE', 'OSTYPE', 'MACHTYPE'].every((name) => env[name] !== undefined);
  if (isTcsh && tcshVendors.includes(VENDOR)) return undefined;
  return `VENDOR: is now WEIR_VENDOR. Set WEIR_VENDOR=${VENDOR}, or WEIR_VENDOR=weir when this VENDOR is not meant for Weir`;
}
