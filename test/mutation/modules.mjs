/** The rules that mutation testing looks at: modules that need no database, each with a test beside it. */
export const MODULES = [
  'src/config',
  'src/lib/*',
  'src/secrets/{encryption-keys,sealed}',
  'src/cloud/clusters/{address-pools,node-texts}',
  'src/cloud/clusters/configuration/*',
  'src/cloud/clusters/upgrades/versions',
  'src/cloud/instances/creation/names',
  'src/cloud/networks/subnets/{new-subnet,range}',
  'src/cloud/pricing/{formula,offers,volume-request}',
  'src/cloud/security-groups/group-change',
  'src/cloud/security-groups/{defaults,rules}/{canonical,duplicates,problems,rules}',
  'src/cloud/ssh-keys/{key-pair,public-key,ssh-strings}',
  'src/cloud/tasks/wait-preference',
  'src/convergence/undo',
  'src/iam/identity/{advice,schema}',
  'src/streaming/ai-tasks/{languages,search-text,states,stop-objects}',
];
