import type { ApiCommand } from '../api/api-command.ts';

export const projects: readonly ApiCommand[] = [
  {
    name: 'project list',
    operation: 'listProjects',
    columns: { ID: 'id', NAME: 'name', STATE: 'state', DEFAULT: 'is_default', CREATED: 'created_at' },
  },
  { name: 'project get', operation: 'getProject', arguments: ['project_id'] },
  { name: 'project create', operation: 'createProject' },
  { name: 'project change', operation: 'updateProject', arguments: ['project_id'] },
  { name: 'project delete', operation: 'deleteProjectWithContents', arguments: ['project_id'], tasks: true },
  {
    name: 'region list',
    operation: 'listRegions',
    columns: { ID: 'id', NAME: 'display_name', STATE: 'state', COUNTRY: 'country' },
  },
];
