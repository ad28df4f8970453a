/** Kinds of resources that user actions are about, as the published contract names them. */
export type ResourceType =
  | 'external_ip'
  | 'file_shares'
  | 'floating_ip'
  | 'image'
  | 'instance'
  | 'k8s_cluster'
  | 'k8s_pool'
  | 'laas'
  | 'laas_topic'
  | 'network'
  | 'port'
  | 'project'
  | 'securitygroup'
  | 'securitygrouprule'
  | 'snapshot'
  | 'ssh_key'
  | 'subnet'
  | 'volume';

/** Something that a request is about. */
export interface ActionResource {
  type: ResourceType;
  id: string | number;
  /** What people look for it by: its name or its address. */
  name?: string | null;
}
