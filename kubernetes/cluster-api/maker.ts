import { type Static, Type } from 'typebox';
import type { BackendMaker } from '../../src/backends/maker.ts';
import { SettingError } from '../../src/lib/errors.ts';
import { accessOf } from '../applying/kubeconfig.ts';
import { platformOf, platformSettings } from '../platform.ts';
import { createClusterApiBackend } from './backend.ts';
import { type Template, unknownPlaceholders } from './templates.ts';

const closed = { additionalProperties: false };
const Anything = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const TemplateOf = (description: string) =>
  Type.Object(
    {
      apiVersion: Type.String({
        pattern: '^[a-z0-9.-]+/v[a-z0-9]+$',
        description: 'Such as infrastructure.cluster.x-k8s.io/v1beta1',
      }),
      kind: Type.String({ pattern: '^[A-Z][A-Za-z0-9]*$' }),
      spec: Anything('With placeholders such as {flavor_id}'),
    },
    { ...closed, description },
  );
const Kubeadm = Type.Optional(
  Anything('Added to what is made of the cluster: a KubeadmConfigSpec of bootstrap.cluster.x-k8s.io/v1beta2'),
);

const Settings = Type.Object(
  {
    ...platformSettings,
    cluster: TemplateOf("The provider's cluster, such as an OpenStackCluster"),
    control_plane: Type.Object(
      {
        machine: TemplateOf("The provider's template of its machines, such as an OpenStackMachineTemplate"),
        replicas: Type.Optional(Type.Union([1, 3, 5].map((count) => Type.Literal(count)))),
        kubeadm: Kubeadm,
      },
      { ...closed, description: '`replicas` is 3 by default' },
    ),
    workers: Type.Object(
      { machine: TemplateOf("The provider's template of a pool's machines"), kubeadm: Kubeadm },
      closed,
    ),
    versions: Type.Optional(
      Type.Array(Type.String({ pattern: '^v\\d+\\.\\d+\\.\\d+$' }), {
        minItems: 1,
        description: 'Versions of Kubernetes that there are images of; by default all of the catalogue',
      }),
    ),
    namespace_prefix: Type.Optional(
      Type.String({
        pattern: '^[a-z][a-z0-9-]{0,30}$',
        description: 'Goes before the number of a project in the name of its namespace; `tradewind-` by default',
      }),
    ),
    node_user: Type.Optional(
      Type.String({
        pattern: '^[a-z][a-z0-9-]{0,30}$',
        description: 'The user on nodes who gets the SSH key; `tradewind` by default',
      }),
    ),
    drain_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3_600,
        description: 'How long pods have to leave a node that goes; 300 by default',
      }),
    ),
    autoscaler_arguments: Type.Optional(
      Type.Array(Type.String({ pattern: '^--' }), {
        description: 'How the autoscaler reaches the machines; --cloud-provider=clusterapi by default',
      }),
    ),
  },
  closed,
);

export const clusterApi: BackendMaker = {
  settings: Settings,
  secrets: ['kubeconfig'],
  families: ['kubernetes'],
  make({ name, settings, secrets }) {
    const {
      cluster,
      control_plane: controlPlane,
      workers,
      versions,
      namespace_prefix: namespacePrefix = 'tradewind-',
      node_user: nodeUser = 'tradewind',
      drain_seconds: drainSeconds = 300,
      autoscaler_arguments: autoscalerArguments = ['--cloud-provider=clusterapi'],
      ...platform
    } = settings as Static<typeof Settings>;
    checkTemplate(name, 'cluster', cluster, { ofPool: false });
    checkTemplate(name, 'control_plane.machine', controlPlane.machine, { ofPool: false });
    checkTemplate(name, 'workers.machine', workers.machine, { ofPool: true });
    return createClusterApiBackend({
      name,
      access: managementOf(name, secrets.kubeconfig ?? ''),
      infrastructure: {
        cluster,
        controlPlane: { replicas: 3, ...controlPlane },
        workers,
        namespacePrefix,
        nodeUser,
        drainSeconds,
      },
      platform: platformOf(platform, autoscalerArguments),
      ...(versions && { versions }),
    });
  },
};

function checkTemplate(name: string, where: string, template: Template, of: { ofPool: boolean }): void {
  const [unknown] = unknownPlaceholders(template, of);
  if (unknown === undefined) return;
  throw new SettingError(`backends.yaml: ${where} of backend ${name}: {${unknown}} is no placeholder`);
}

function managementOf(name: string, kubeconfig: string) {
  try {
    return accessOf(kubeconfig);
  } catch (error) {
    const problem = (error as Error).message;
    throw new SettingError(`backends.yaml: secret kubeconfig of backend ${name}: ${problem}`);
  }
}
