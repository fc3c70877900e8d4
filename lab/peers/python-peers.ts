import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { buildOnce } from '../../harness/tools/build-cache.ts';
import { readVersions } from '../../harness/tools/toolchain.ts';
import { chooseFreePorts } from '../../launcher/provision/ports.ts';
import { openPeerDatabase } from './database.ts';
import { installTimeoutMs, type Peer, type PeerDatabase, type PeerHost } from './peer.ts';
import { startPeerProcess } from './process.ts';

/** A peer that is a package of Python, with its own tables in the shared Postgres. */
interface PythonPeer extends Pick<Peer, 'name' | 'version' | 'answersAfter' | 'requestsMax'> {
  /** The name of its database and of its installation. */
  id: string;
  packages: readonly string[];
  headers: Record<string, string>;
  /** Its documented command, and the variables for it. */
  launch(options: { port: number; otherPort: number; database: PeerDatabase; directory: string }): {
    arguments: readonly [string, ...string[]];
    env: Record<string, string>;
  };
}

const phoenixVersion = '20.26.1';
const mlflowVersion = '3.17.2';

/**
 * Requests of 512 spans that Phoenix takes into its queue of 20,000 spans without rejecting any, with room
 * for slow rounds.
 */
const phoenixRequestsMax = 6;

const pythonPeers: readonly PythonPeer[] = [
  {
    id: 'phoenix',
    name: 'Arize Phoenix',
    version: phoenixVersion,
    answersAfter: 'a queue in memory',
    requestsMax: phoenixRequestsMax,
    packages: [`arize-phoenix[pg]==${phoenixVersion}`],
    headers: {},
    launch: ({ port, otherPort, database, directory }) => ({
      arguments: ['phoenix', 'serve'],
      env: {
        PHOENIX_HOST: '127.0.0.1',
        PHOENIX_PORT: String(port),
        PHOENIX_GRPC_PORT: String(otherPort),
        PHOENIX_SQL_DATABASE_URL: database.url.replace('postgres:', 'postgresql:'),
        PHOENIX_WORKING_DIR: directory,
        PHOENIX_ALLOW_EXTERNAL_RESOURCES: 'false',
        PHOENIX_TELEMETRY_ENABLED: 'false',
      },
    }),
  },
  {
    id: 'mlflow',
    name: 'MLflow',
    version: mlflowVersion,
    answersAfter: 'COMMIT',
    packages: [`mlflow==${mlflowVersion}`, 'psycopg[binary]'],
    headers: { 'x-mlflow-experiment-id': '0' },
    launch: ({ port, database, directory }) => ({
      arguments: [
        'mlflow',
        'server',
        '--backend-store-uri',
        database.url.replace('postgres:', 'postgresql:'),
        '--default-artifact-root',
        join(directory, 'mlartifacts'),
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
      ],
      env: { MLFLOW_DISABLE_TELEMETRY: 'true', DO_NOT_TRACK: 'true' },
    }),
  },
];

/** Functions that install each peer into the cache. @throws PackagesUnreachableError */
export const pythonInstallers = pythonPeers.map((peer) => ({
  name: peer.name,
  tools: ['python3'] as const,
  install: async (): Promise<Peer> => {
    const commands = [
      'python3 -m venv .venv',
      `.venv/bin/python -m pip install --quiet --disable-pip-version-check ${peer.packages.map((one) => `'${one}'`).join(' ')}`,
    ];
    const installed = await buildOnce({
      name: `peer-${peer.id}`,
      hash: createHash('sha256')
        .update(readVersions(['python3']) + commands.join('\n'))
        .digest('hex')
        .slice(0, 16),
      folder: '.',
      commands,
      timeoutMs: installTimeoutMs,
      write: () => {},
    });
    return { ...peer, start: (host) => start(peer, join(installed, '.venv', 'bin'), host) };
  },
}));

async function start(peer: PythonPeer, programs: string, { superuserUrl, directory }: PeerHost) {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openPeerDatabase(superuserUrl, peer.id));
  const [port = 0, otherPort = 0] = await chooseFreePorts(2);
  const { arguments: args, env } = peer.launch({ port, otherPort, database, directory });
  const [program, ...rest] = args;
  const url = `http://127.0.0.1:${port}`;
  stack.use(
    await startPeerProcess({
      name: peer.id,
      command: [join(programs, program), ...rest],
      env: { ...env, PATH: `${programs}:${process.env.PATH}` },
      directory,
      readyUrl: url,
    }),
  );
  const owned = stack.move();
  return {
    url: `${url}/v1/traces`,
    headers: { ...peer.headers, 'content-type': 'application/x-protobuf' },
    status: 200,
    async countStored() {
      const [row] = await database.sql`SELECT count(*)::float8 AS spans FROM ${database.sql('spans')}`;
      return Number(row?.spans);
    },
    countBytes: database.countBytes,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
