import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';

export const Project = wire.Named('Project', {
  id: Type.Integer({ description: 'Project ID', examples: [1] }),
  name: Type.String({ examples: ['Default'] }),
  description: wire.nullable(Type.String()),
  client_id: Type.Integer({ description: 'Account that owns the project' }),
  is_default: Type.Boolean({ description: 'Whether it is the default project of the account' }),
  state: Type.String({ examples: ['ACTIVE'] }),
  task_id: wire.TextOrNull({ description: 'Task that holds the project; null if there is none' }),
  created_at: wire.Timestamp(),
  deleted_at: wire.nullable(wire.Timestamp()),
});
export type Project = Static<typeof Project>;

export const ProjectList = wire.listOf(Project, 'ProjectList');

export const ProjectParams = Type.Object({ project_id: wire.IntegerId('Project ID') });

export const ProjectListQuery = wire.Query({
  ...wire.listQuery(100),
  name: wire.OptionalText({ maxLength: 255, description: 'Exact name' }),
  include_deleted: wire.OptionalFlag({ default: false }),
  order_by: Type.Optional(
    Type.Enum(['created_at.asc', 'created_at.desc', 'name.asc', 'name.desc'], {
      default: 'created_at.desc',
    }),
  ),
});
export type ProjectListQuery = Static<typeof ProjectListQuery>;

const description = wire.TextOrNull({
  maxLength: 255,
  description: 'Purpose of the project',
  examples: ['Everything for the web site'],
});

export const CreateProjectSchema = wire.Input(
  'CreateProject',
  {
    name: wire.ResourceName('Name, unique in the account'),
    description: Type.Optional(description),
  },
  { name: 'Web site', description: 'Everything for the web site' },
);
export type CreateProject = Static<typeof CreateProjectSchema>;

export const UpdateProjectSchema = wire.Input(
  'UpdateProject',
  {
    name: Type.Optional(wire.ResourceName('Name, unique in the account')),
    description: Type.Optional(description),
  },
  { name: 'Production', description: 'Everything for the web site' },
);
export type UpdateProject = Static<typeof UpdateProjectSchema>;
