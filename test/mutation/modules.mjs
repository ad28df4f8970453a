/** The rules that mutation testing looks at: modules that need no database, with tests in the same folder. */
export const MODULES = [
  'src/config',
  'src/lib/*',
  'src/secrets/{encryption-keys,sealed}',
  'src/cloud/kubernetes/clusters/{address-pools,node-texts}',
  'src/cloud/kubernetes/clusters/configuration/*',
  'src/cloud/compute/instances/creation/names',
  'src/cloud/compute/ssh-keys/public-key',
  'src/cloud/network/networks/subnets/rules',
  'src/cloud/network/security-groups/group-change',
  'src/cloud/network/security-groups/defaults/rules',
  'src/cloud/network/security-groups/rules/rule',
  'src/cloud/ground/prices/formula',
  'src/cloud/storage/volumes/schedules/timing',
  'src/iam/identity/schema',
  'src/streaming/ai-tasks/{states,stop-objects}',
  'engines/languages',
];
