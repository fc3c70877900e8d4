/** A member of a cluster of nats-servers. */
export interface ClusterMember {
  /** Unique in the cluster, and the same at every start. */
  name: string;
  port: number;
  routes: readonly string[];
  password: string;
}

/**
 * The options of a member for `startNatsServer`. Start all members concurrently: none is healthy before a
 * majority runs. Cluster routes use the clients' password: on loopback a second one would protect nothing.
 */
export function clusterMember({ name, port, routes, password }: ClusterMember) {
  const addresses = routes.map((address) => JSON.stringify(`nats://weir:${password}@${address}`));
  const settings = `# How long a member that does not read can delay the messages to the others; the default is 10 s.
write_deadline: "2s"
cluster {
  name: weir
  listen: "127.0.0.1:${port}"
  # Servers and clients use only the addresses they are configured with: gossiped ones would bypass a proxy.
  advertise: "127.0.0.1:1"
  no_advertise: true
  authorization { user: "weir", password: ${JSON.stringify(password)} }
  routes: [${addresses.join(', ')}]
}
`;
  return { name, settings };
}
