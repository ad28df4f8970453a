import type { FileShares } from '../file-shares/service.ts';
import type { Scope } from '../projects/service.ts';
import type { SshKeys } from '../ssh-keys/service.ts';

/** What clusters need to know of other features. Unknown and foreign things look alike. */
export interface ClusterReferences {
  sshKeys: Pick<SshKeys, 'hasNamed' | 'known' | 'keep'>;
  fileShares: Pick<FileShares, 'forSlurm' | 'keepForSlurm'>;
  securityGroups: {
    /** Those of the groups that exist in the project and region, in lower case. */
    known(scope: Scope, ids: string[]): Promise<ReadonlySet<string>>;
  };
  networks: NetworkLookup;
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
