import type { Transaction } from '../../db/database.ts';
import type { Scope } from '../projects/service.ts';
import type { SlurmFileShare } from './configuration/slurm.ts';

/** What clusters need to know of other features. Unknown and foreign things look alike. */

export interface SshKeyLookup {
  /** Whether the project has a key of that name which the caller may use. */
  hasNamed(scope: Scope, name: string): Promise<boolean>;
  /** Those of the keys that exist in the project, in lower case. */
  known(scope: Scope, ids: string[]): Promise<ReadonlySet<string>>;
  /** Keeps keys of the project from being deleted until the transaction ends; answers those that are there. */
  keep(
    tx: Transaction,
    place: { projectId: number },
    keys: { names: string[]; ids: string[] },
  ): Promise<{ id: string; name: string; public_key: string }[]>;
}

export interface FileShareLookup {
  forSlurm(scope: Scope, id: string): Promise<SlurmFileShare | undefined>;
  /** Keeps the share from being deleted until the transaction ends; false when it is gone or on its way out. */
  keepForSlurm(tx: Transaction, scope: Scope, id: string): Promise<boolean>;
}

export interface SecurityGroupLookup {
  /** Those of the groups that exist in the project and region, in lower case. */
  known(scope: Scope, ids: string[]): Promise<ReadonlySet<string>>;
}

export interface NetworkLookup {
  hasNetwork(scope: Scope, id: string): Promise<boolean>;
  subnet(scope: Scope, id: string): Promise<ClusterSubnet | undefined>;
}

export interface ClusterSubnet {
  networkId: string;
  cidr: string;
  hasRouter: boolean;
}

export interface ClusterReferences {
  sshKeys: SshKeyLookup;
  fileShares: FileShareLookup;
  securityGroups: SecurityGroupLookup;
  networks: NetworkLookup;
}
