import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** The network address of the client that sent a request: what audit rows show and attempts are limited by. */
export type FindAddress = (request: IncomingMessage) => string;

/**
 * Anybody can send X-Forwarded-For. It is believed from these proxies only, and only what they have added: its last address
 * is the one that connected to the proxy nearest to us. If that is one of the proxies too, the address before it counts, and so on.
 *
 * @param proxies addresses and networks such as `10.0.0.0/8`. Without any, the client is whoever connects.
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
    // Node joins the lines of several headers in their order.
    const hops = headers['x-forwarded-for']?.toString().split(',') ?? [];
    while (address !== '' && isTrusted(address)) {
      const before = plainAddress(hops.pop() ?? '');
      // Nothing, or no address: whatever stands before it was not written by a proxy of ours.
      if (before === undefined) break;
      address = before;
    }
    return address;
  };
}

/**
 * What attempts of one client are counted by: the address, or the first 64 bits of an IPv6 one, because whoever has one such
 * address usually has all that begin alike.
 */
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

/**
 * The network that one customer of a provider may have: the first 24 bits of an IPv4 address, the first 48 of an IPv6 one. An
 * address that is none of both is its own network.
 */
export function widerNetworkOf(address: string): string {
  if (!isIPv6(address)) return address.replace(/\.\d+$/, '.0/24');
  return `${networkOf(address).split(':').slice(0, 3).join(':')}::/48`;
}

/** An address in one spelling, without the port that some proxies add; an IPv4 address that is written as IPv6 is IPv4. */
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
