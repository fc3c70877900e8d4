import type { KubernetesObject, Labels, PodTemplate, Selector } from './objects.ts';

/**
 * References to objects that do not exist, as sentences: an API server admits them, and a pod then never
 * starts, or is never reached.
 */
export function findDanglingReferences(objects: readonly KubernetesObject[]): string[] {
  const templates = objects.flatMap(({ spec }) => spec?.template ?? []);
  return [
    ...new Set(
      objects.flatMap((object) => {
        const missing = [
          ...(object.spec?.template ? missingForPods(object, object.spec.template, objects) : []),
          ...missingForSelectors(object, templates),
          ...missingTarget(object, objects),
        ];
        return missing.map((what) => `${object.kind} ${object.metadata.name}: no ${what}`);
      }),
    ),
  ];
}

/** The Secrets, ConfigMaps, volumes, ports of probes, and the Service that the pods of a workload need. */
function missingForPods(
  { spec: workload }: KubernetesObject,
  { spec }: PodTemplate,
  objects: readonly KubernetesObject[],
): string[] {
  const missing: string[] = [];
  const need = (kind: string, name: string, key?: string) => {
    const found = objects.find((one) => one.kind === kind && one.metadata.name === name);
    if (found === undefined) missing.push(`${kind} ${name}`);
    else if (key !== undefined && found.data?.[key] === undefined)
      missing.push(`key ${key} in ${kind} ${name}`);
  };
  if (workload?.serviceName) need('Service', workload.serviceName);
  if (spec.serviceAccountName) need('ServiceAccount', spec.serviceAccountName);
  for (const { configMap, secret } of spec.volumes ?? []) {
    if (configMap) need('ConfigMap', configMap.name);
    if (secret) need('Secret', secret.secretName);
  }
  const volumes = [
    ...(spec.volumes ?? []),
    ...(workload?.volumeClaimTemplates ?? []).map((one) => one.metadata),
  ];
  for (const container of spec.containers) {
    for (const { configMapRef, secretRef } of container.envFrom ?? []) {
      if (configMapRef) need('ConfigMap', configMapRef.name);
      if (secretRef) need('Secret', secretRef.name);
    }
    for (const { valueFrom } of container.env ?? []) {
      if (valueFrom?.secretKeyRef) need('Secret', valueFrom.secretKeyRef.name, valueFrom.secretKeyRef.key);
      if (valueFrom?.configMapKeyRef)
        need('ConfigMap', valueFrom.configMapKeyRef.name, valueFrom.configMapKeyRef.key);
    }
    for (const { name } of container.volumeMounts ?? [])
      if (!volumes.some((volume) => volume.name === name)) missing.push(`volume ${name}`);
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
      if (probe && !hasPort([container], probe.httpGet.port)) missing.push(`port ${probe.httpGet.port}`);
  }
  return missing;
}

/**
 * What a Service, a disruption budget, an autoscaler or a network policy selects. Each pod that it selects
 * has each port that it names.
 */
function missingForSelectors({ kind, spec }: KubernetesObject, templates: readonly PodTemplate[]): string[] {
  if (spec === undefined) return [];
  const missing: string[] = [];
  const select = (selector: Selector) => {
    const selected = alternativesOf(selector).map((one) =>
      templates.filter(({ metadata }) => matches(one, metadata.labels)),
    );
    if (selected.some((pods) => pods.length === 0)) missing.push(`pod for ${JSON.stringify(selector)}`);
    return selected.flat();
  };
  const needPort = (pods: readonly PodTemplate[], port: string | number) => {
    if (!pods.every((pod) => hasPort(pod.spec.containers, port))) missing.push(`port ${port}`);
  };
  if (kind === 'Service') {
    const pods = select({ matchLabels: spec.selector as Labels }); // The kind says which of both it is.
    for (const { port, targetPort = port } of spec.ports ?? []) needPort(pods, targetPort);
  } else if (kind === 'NetworkPolicy') {
    const pods = select(spec.podSelector ?? {});
    for (const { from = [], ports = [] } of spec.ingress ?? []) {
      for (const { port } of ports) needPort(pods, port);
      for (const { podSelector } of from) if (podSelector) select(podSelector);
    }
  } else if (spec.selector) select(spec.selector as Selector); // As above.
  return missing;
}

function missingTarget({ spec }: KubernetesObject, objects: readonly KubernetesObject[]): string[] {
  const target = spec?.scaleTargetRef;
  if (target === undefined) return [];
  const exists = objects.some(({ kind, metadata }) => kind === target.kind && metadata.name === target.name);
  return exists ? [] : [`${target.kind} ${target.name}`];
}

/** A selector for each value of an expression: each names pods that exist. */
function alternativesOf({ matchLabels = {}, matchExpressions = [] }: Selector): Selector[] {
  return matchExpressions.reduce<Selector[]>(
    (selectors, { key, operator, values }) => {
      if (operator !== 'In') throw new Error(`the operator ${operator} is not known here`);
      return selectors.flatMap((one) =>
        values.map((value) => ({ matchLabels: { ...one.matchLabels, [key]: value } })),
      );
    },
    [{ matchLabels }],
  );
}

function hasPort(containers: PodTemplate['spec']['containers'], port: string | number): boolean {
  return containers.some(({ ports = [] }) =>
    ports.some(({ name, containerPort }) => name === port || containerPort === port),
  );
}

function matches({ matchLabels = {} }: Selector, labels: Labels): boolean {
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}
