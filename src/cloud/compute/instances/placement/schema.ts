import { UuidInput } from '../../../../lib/resource-fields.ts';
import { Input } from '../../../../lib/wire.ts';

export const PutIntoServerGroup = Input(
  'PutIntoServerGroup',
  { servergroup_id: UuidInput('Placement group to put the instance into') },
  { servergroup_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a' },
);
