import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** The network address of a request's client, shown in audit rows, and by which attempts are limited. */
export type FindAddress = (request: IncomingMessage) => string;

/**
 * Any client can send X-Forwarded-For, so only entries added by trusted proxies count: the last one, and
 * while that is a trusted proxy, too, the one before.
 * @param proxies addresses and networks such as `10.0.0.0/8`. Without any, the connection's address counts.
 */
export function createFindAddress(proxies: readonly string[]): FindAddress {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string) => trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return ({ socket, headers }) => {
    let address = plainAddress(socket.remoteAddress ?? '') ?? '';
    if (proxies.length === 0) return address;
    // Node joins repeated headers in order.
    const hops = headers['x-forwarded-for']?.toString().split(',') ?? [];
    while (address !== '' && isTrusted(address)) {
      const before = plainAddress(hops.pop() ?? '');
      // Missing or no address: a trusted proxy did not write the entries before it.
      if (before === undefined) break;
      address = before;
    }
    return address;
  };
}

/** The key by which attempts of one client are counted. An IPv6 host usually controls the whole /64. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = address.includes('::')
    ? [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)]
    : groups(head);
  return `${all.slice(0, 4).join(':')}::/64`;
}

/** The network that one customer of a provider may have. Text that is no address is returned unchanged. */
export function widerNetworkOf(address: string): string {
  if (!isIPv6(address)) return address.replace(/\.\d+$/, '.0/24');
  return `${networkOf(address).split(':').slice(0, 3).join(':')}::/48`;
}

/** Removes a port that some proxies add, and converts IPv4-mapped IPv6 to IPv4. */
function plainAddress(text: string): string | undefined {
  const address = text
    .trim()
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1');
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIP(mapped) === 4) return mapped;
  if (isIP(address) === 0 || address.includes('%')) return undefined;
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}
