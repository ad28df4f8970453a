import type { SshKeys } from '../../compute/ssh-keys/service.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { SecurityGroups } from '../../network/security-groups/service.ts';
import type { FileShares } from '../../storage/file-shares/service.ts';

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
