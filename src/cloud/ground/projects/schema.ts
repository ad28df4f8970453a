import { type Static, Type } from 'typebox';
import {
  Input,
  IntegerId,
  listOf,
  listQuery,
  Named,
  nullable,
  Query,
  ResourceName,
  Timestamp,
} from '../../../lib/wire.ts';

export const Project = Named('Project', {
  id: Type.Integer({ description: 'Project ID', examples: [1] }),
  name: Type.String({ examples: ['Default'] }),
  description: nullable(Type.String()),
  client_id: Type.Integer({ description: 'Account that owns the project' }),
  is_default: Type.Boolean({ description: 'Whether it is the default project of the account' }),
  state: Type.String({ examples: ['ACTIVE'] }),
  task_id: nullable(Type.String({ description: 'Task that holds the project; null if there is none' })),
  created_at: Timestamp(),
  deleted_at: nullable(Timestamp()),
});
export type Project = Static<typeof Project>;

export const ProjectList = listOf(Project, 'ProjectList');

export const ProjectParams = Type.Object({ project_id: IntegerId('Project ID') });

export const ProjectListQuery = Query({
  ...listQuery(100),
  name: Type.Optional(Type.String({ maxLength: 255, description: 'Exact name' })),
  include_deleted: Type.Optional(Type.Boolean({ default: false })),
  order_by: Type.Optional(
    Type.Enum(['created_at.asc', 'created_at.desc', 'name.asc', 'name.desc'], {
      default: 'created_at.desc',
    }),
  ),
});
export type ProjectListQuery = Static<typeof ProjectListQuery>;

const description = nullable(
  Type.String({
    maxLength: 255,
    description: 'Purpose of the project',
    examples: ['Everything for the web site'],
  }),
);

export const CreateProjectSchema = Input(
  'CreateProject',
  {
    name: ResourceName('Name, unique in the account'),
    description: Type.Optional(description),
  },
  { name: 'Web site', description: 'Everything for the web site' },
);
export type CreateProject = Static<typeof CreateProjectSchema>;

export const UpdateProjectSchema = Input(
  'UpdateProject',
  {
    name: Type.Optional(ResourceName('Name, unique in the account')),
    description: Type.Optional(description),
  },
  { name: 'Production', description: 'Everything for the web site' },
);
export type UpdateProject = Static<typeof UpdateProjectSchema>;
