import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { spawnServer } from '../../../launcher/process/server-process.ts';
import { chooseFreePorts } from '../../../launcher/provision/ports.ts';
import { buildGoProgram } from '../tools/go-program.ts';
import { until } from '../wait.ts';
import { KubernetesApi } from './api.ts';

/** The release of Kubernetes, and the number that its libraries have for it. */
export const kubernetesVersion = '1.33.1';
const libraryVersion = 'v0.33.1';

/**
 * The libraries that kube-apiserver replaces with folders of its own repository: a program outside of it
 * requires them.
 */
const libraries =
  'api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider cluster-bootstrap code-generator component-base component-helpers controller-manager cri-api cri-client csi-translation-lib dynamic-resource-allocation endpointslice externaljwt kms kube-aggregator kube-controller-manager kube-proxy kube-scheduler kubectl kubelet metrics mount-utils pod-security-admission';

/** etcd and kube-apiserver in one program: the name by which it is called chooses one. */
const program = `package main

import (
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if filepath.Base(os.Args[0]) == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
`;

/** Some 2,000 packages: ten minutes of CPU time, an hour on a busy machine. */
export const controlPlaneBuildMs = 90 * 60_000;

/** It writes its own objects first, on a machine that may be busy. */
const readyTimeoutMs = 300_000;

/** A real Kubernetes API server with its etcd, on loopback. Nothing runs its pods. Disposing stops both. */
export interface ControlPlane extends AsyncDisposable {
  readonly api: KubernetesApi;
}

/** @returns the program. @throws PackagesUnreachableError */
export function buildControlPlane(): Promise<string> {
  const modules = [
    `k8s.io/kubernetes@v${kubernetesVersion}`,
    'go.etcd.io/etcd/server/v3@v3.5.21',
    ...libraries.split(' ').map((name) => `k8s.io/${name}@${libraryVersion}`),
  ];
  return buildGoProgram('control-plane', modules, {
    program,
    // Two compilers at a time: some need a gigabyte of memory. Without the tables for debuggers, linking
    // needs half of it.
    build: "CGO_ENABLED=0 go build -p 2 -trimpath -ldflags '-s -w'",
    timeoutMs: controlPlaneBuildMs,
  });
}

export async function startControlPlane(binary: string): Promise<ControlPlane> {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(inject('runDirectory'), 'kubernetes-'));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const [clientPort = 0, peerPort = 0, port = 0] = await chooseFreePorts(3);
  const token = randomUUID();
  writeFileSync(join(directory, 'tokens'), `${token},admin,admin,"system:masters"\n`);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(directory, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const logFile = join(directory, 'log');
  let hasExited = false;
  const start = async (name: string, options: Record<string, string>) => {
    const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
    const server = await spawnServer([binary, ...args], { logFile, stopSignals: [], spawn: { argv0: name } });
    stack.defer(() => server.stop());
    void server.exited.then(() => {
      hasExited = true;
    });
  };
  const etcd = `http://127.0.0.1:${clientPort}`;
  await start('etcd', etcdOptions(directory, etcd, `http://127.0.0.1:${peerPort}`));
  await start('kube-apiserver', apiserverOptions(directory, etcd, port));
  const readLog = () => readFileSync(logFile, 'utf8').slice(-4_000);
  const untilTrue = (condition: () => boolean | Promise<boolean>) =>
    until(
      () => {
        if (hasExited) throw new Error(`kube-apiserver or etcd ended: ${readLog()}`);
        return condition();
      },
      readyTimeoutMs,
      readLog,
    );
  const certificate = join(directory, 'certificates', 'apiserver.crt');
  await untilTrue(() => existsSync(certificate) && readFileSync(certificate).length > 0);
  const api = new KubernetesApi(`https://127.0.0.1:${port}`, token, readFileSync(certificate));
  stack.defer(() => api.close());
  await untilTrue(() => api.isReady());
  const owned = stack.move();
  return { api, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function etcdOptions(directory: string, clients: string, peers: string): Record<string, string> {
  return {
    name: 'etcd',
    'data-dir': join(directory, 'etcd'),
    'listen-client-urls': clients,
    'advertise-client-urls': clients,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `etcd=${peers}`,
    'unsafe-no-fsync': 'true',
  };
}

function apiserverOptions(directory: string, etcd: string, port: number): Record<string, string> {
  return {
    'etcd-servers': etcd,
    'bind-address': '127.0.0.1',
    'secure-port': String(port),
    // It makes its certificate there.
    'cert-dir': join(directory, 'certificates'),
    // An address for documentation: nothing is sent to it.
    'advertise-address': '192.0.2.1',
    'endpoint-reconciler-type': 'none',
    'service-cluster-ip-range': '10.96.0.0/16',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': join(directory, 'key.pem'),
    'service-account-signing-key-file': join(directory, 'key.pem'),
    'token-auth-file': join(directory, 'tokens'),
    'authorization-mode': 'RBAC',
  };
}
