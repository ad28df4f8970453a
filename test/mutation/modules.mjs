/** The rules that mutation testing looks at: modules that need no database, each with a test beside it. */
export const MODULES = [
  'src/config',
  'src/lib/*',
  'src/secrets/{encryption-keys,sealed}',
  'src/cloud/kubernetes/clusters/{address-pools,node-texts}',
  'src/cloud/kubernetes/clusters/configuration/*',
  'src/cloud/kubernetes/clusters/upgrades/versions',
  'src/cloud/compute/instances/creation/names',
  'src/cloud/network/networks/subnets/{new-subnet,range}',
  'src/cloud/money/pricing/{formula,offers,volume-request}',
  'src/cloud/network/security-groups/group-change',
  'src/cloud/network/security-groups/{defaults,rules}/{canonical,duplicates,problems,rules}',
  'src/cloud/compute/ssh-keys/{key-pair,public-key,ssh-strings}',
  'src/cloud/ground/tasks/wait-preference',
  'src/convergence/undo',
  'src/iam/identity/{advice,schema}',
  'src/streaming/ai-tasks/{languages,search-text,states,stop-objects}',
];
