/** Changes that can't be taken back once they have begun, and why. Removals can't either. */
const IRREVERSIBLE: Readonly<Record<string, string>> = {
  extend_sfs: "a file share can't become smaller again",
  extend_volume: "a volume can't become smaller again",
  failover_loadbalancer: 'the other machine may have taken over already',
  hard_reboot_vm: 'the machine may have been restarted already',
  revert_volume: 'the data of the volume may have been replaced already',
  soft_reboot_vm: 'the machine may have been restarted already',
  upgrade_k8s_cluster_v2: "Kubernetes can't go back to an older version",
};

export const whyIrreversible = (taskType: string): string | undefined => IRREVERSIBLE[taskType];
