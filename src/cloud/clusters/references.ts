import type { FileShares } from '../file-shares/service.ts';
import type { Scope } from '../projects/service.ts';
import type { SecurityGroups } from '../security-groups/service.ts';
import type { SshKeys } from '../ssh-keys/service.ts';

/** What clusters need to know of other features. Unknown resources look the same as other accounts' ones. */
export interface ClusterReferences {
  sshKeys: Pick<SshKeys, 'hasNamed' | 'known'>;
  fileShares: Pick<FileShares, 'forSlurm'>;
  securityGroups: Pick<SecurityGroups, 'known'>;
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
