import type { ClusterConfiguration } from '../../../db/json-columns.ts';
import { type FieldProblem, InvalidError, ifFound } from '../../../lib/errors.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { hasSshKeyNamed } from '../../compute/ssh-keys/service.ts';
import { getNetwork, getSubnet } from '../../network/networks/service.ts';
import { type AddressPools, addressPools } from './address-pools.ts';
import { initialConfiguration } from './configuration/merge.ts';
import { validateInitialConfiguration } from './configuration/validate.ts';
import { newPool, poolGroupProblems } from './pools/new-pool.ts';
import { poolOffer, poolsProblems } from './pools.ts';
import { configurationContext, slurmReferences } from './region-context.ts';
import type { CreateCluster } from './schema.ts';
import type { NewPool } from './store.ts';

export interface ClusterSubnet {
  networkId: string;
  cidr: string;
  hasRouter: boolean;
}

/** Whether nodes may be in the network. The platform's external networks are not for them. */
export async function hasOwnNetwork(on: Platform, scope: Scope, id: string): Promise<boolean> {
  const network = await ifFound(getNetwork(on, scope, id));
  return network !== undefined && !network.external;
}

/** Returns a subnet that nodes may be in; undefined if there is none in the project and region. */
export async function findClusterSubnet(on: Platform, scope: Scope, id: string): Promise<ClusterSubnet | undefined> {
  const subnet = await ifFound(getSubnet(on, scope, id));
  if (!subnet || subnet.project_id === null) return undefined;
  return { networkId: subnet.network_id, cidr: subnet.cidr, hasRouter: subnet.routed };
}

/** A valid creation body, with every default filled in. */
export interface AcceptedCluster extends AddressPools {
  name: string;
  version: string;
  keypair: string;
  pools: NewPool[];
  configuration: ClusterConfiguration;
  vast_nfs_enabled: boolean;
  fixed_network: string | null;
  fixed_subnet: string | null;
  is_ipv6: boolean;
}

/**
 * Checks a whole creation body against the region and the project. Writes nothing.
 * @throws InvalidError with every fault
 */
export async function acceptCluster(on: Platform, scope: Scope, request: CreateCluster): Promise<AcceptedCluster> {
  const { region } = scope;
  if (!region.has_k8s) {
    throw new InvalidError({
      region_id: [
        `Region ${region.id} (${region.display_name}) doesn't offer Kubernetes. Choose a region whose has_k8s is true.`,
      ],
    });
  }
  const version = `v${request.version.replace(/^v/, '')}`;
  const vastNfs = request.csi?.nfs?.vast_enabled ?? false;
  const subnet = request.fixed_subnet ? await findClusterSubnet(on, scope, request.fixed_subnet) : undefined;
  const addresses = addressPools(request, subnet?.cidr);
  const slurm = await slurmReferences(on, scope, request.add_ons);
  const { name, pools } = request;
  const asked = { name, version, ...addresses.pools, vast_nfs_enabled: vastNfs, pools };
  const context = configurationContext(on.catalog, scope, asked, slurm);
  const problems = [
    ...versionProblems(version, on.backends.clusterVersions(region.id, on.catalog.kubernetesVersions)),
    ...poolsProblems(request.pools, poolOffer(on.catalog, scope)),
    ...addresses.problems,
    ...vastProblems(vastNfs, scope),
    ...ddnProblems(request),
    ...ipv6Problems(request, scope),
    ...validateInitialConfiguration(request, context),
    ...(await keypairProblems(on, scope, request)),
    ...(await networkProblems(on, scope, request, subnet)),
    ...(await poolGroupProblems(on, scope, namedPools(request))),
  ];
  if (problems.length > 0) throw new InvalidError(problems);
  return {
    name: request.name,
    version,
    keypair: request.keypair,
    pools: request.pools.map(newPool),
    configuration: initialConfiguration(request, request.name),
    vast_nfs_enabled: vastNfs,
    fixed_network: networkText(request.fixed_network),
    fixed_subnet: networkText(request.fixed_subnet),
    is_ipv6: request.is_ipv6 ?? false,
    ...addresses.pools,
  };
}

const namedPools = ({ pools }: CreateCluster) =>
  pools.map((pool, index) => ({ path: `pools.${index}.`, ids: pool.security_group_ids ?? [] }));

function versionProblems(version: string, offered: readonly string[]): FieldProblem[] {
  if (offered.includes(version)) return [];
  const message =
    offered.length === 0
      ? 'No version of Kubernetes is installed for this region. Ask its operator for one.'
      : `Unknown version ${version}. Must be one of: ${offered.join(', ')}.`;
  return [{ field: 'version', message }];
}

function vastProblems(enabled: boolean, { region }: Scope): FieldProblem[] {
  if (!enabled || region.file_share_types?.includes('vast')) return [];
  return [
    {
      field: 'csi.nfs.vast_enabled',
      message: `Region ${region.id} (${region.display_name}) doesn't offer VAST file shares. Leave it out.`,
    },
  ];
}

/** Newer clients know DDN file shares. As no project has any, the answer is 400, as in the published contract. */
function ddnProblems({ csi }: CreateCluster): FieldProblem[] {
  if (!csi?.nfs?.ddn_enabled) return [];
  return [{ field: 'csi.nfs.ddn_enabled', message: 'The project has no DDN file share. Leave it out.' }];
}

function ipv6Problems({ is_ipv6 }: CreateCluster, { region }: Scope): FieldProblem[] {
  if (is_ipv6 !== true || region.external_network_id !== null) return [];
  const message = `Region ${region.id} (${region.display_name}) has no public addresses. Leave it out.`;
  return [{ field: 'is_ipv6', message }];
}

async function keypairProblems(on: Platform, scope: Scope, { keypair }: CreateCluster): Promise<FieldProblem[]> {
  if (await hasSshKeyNamed(on, scope, keypair)) return [];
  const message = `Unknown SSH key ${keypair}. Must be the name of a key of this project; add the key first.`;
  return [{ field: 'keypair', message }];
}

async function networkProblems(
  on: Platform,
  scope: Scope,
  { fixed_network: networkId, fixed_subnet: subnetId }: CreateCluster,
  subnet: ClusterSubnet | undefined,
): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = [];
  if (networkId && !(await hasOwnNetwork(on, scope, networkId))) {
    problems.push({
      field: 'fixed_network',
      message: `Unknown network ${networkId}. Must be a network in this project and region.`,
    });
  }
  if (!subnetId) return problems;
  const field = 'fixed_subnet';
  if (!subnet) {
    const message = `Unknown subnet ${subnetId}. Must be a subnet in this project and region.`;
    problems.push({ field, message });
  } else if (networkId && subnet.networkId !== networkId.toLowerCase()) {
    problems.push({ field, message: `Belongs to network ${subnet.networkId}, not to fixed_network.` });
  } else if (!subnet.hasRouter) {
    problems.push({
      field,
      message: 'Has no router. Attach it to one, or choose another subnet.',
    });
  } else if (subnet.cidr.includes(':')) {
    problems.push({ field, message: 'Is an IPv6 subnet, but nodes need IPv4. Choose an IPv4 subnet.' });
  }
  return problems;
}

/** Absent becomes the empty text, which is the published default; null stays null. */
function networkText(given: string | null | undefined): string | null {
  return given === undefined ? '' : (given?.toLowerCase() ?? null);
}
