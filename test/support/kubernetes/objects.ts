/** What the tests read of a Kubernetes object. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Labels;
    resourceVersion?: string;
  };
  data?: Record<string, string>;
  spec?: {
    replicas?: number;
    template?: PodTemplate;
    /** A Service has labels here, other kinds a selector. */
    selector?: Labels | Selector;
    serviceName?: string;
    scaleTargetRef?: { kind: string; name: string };
    ports?: Port[];
    podSelector?: Selector;
    ingress?: { from?: { podSelector?: Selector }[]; ports?: { port: string | number }[] }[];
    volumeClaimTemplates?: { metadata: { name: string } }[];
  };
}

export type Labels = Record<string, string>;

export interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values: string[] }[];
}

interface Port {
  name: string;
  port: number;
  targetPort?: string | number;
}

export interface PodTemplate {
  metadata: { labels: Labels };
  spec: {
    serviceAccountName?: string;
    containers: Container[];
    volumes?: { name: string; configMap?: { name: string }; secret?: { secretName: string } }[];
  };
}

interface Container {
  name: string;
  image: string;
  ports?: { name: string; containerPort: number }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  env?: {
    name: string;
    valueFrom?: { secretKeyRef?: KeyReference; configMapKeyRef?: KeyReference };
  }[];
  volumeMounts?: { name: string }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
}

interface KeyReference {
  name: string;
  key: string;
}

interface Probe {
  httpGet: { port: string | number };
}
