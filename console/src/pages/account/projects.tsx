import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { $api, ApiError } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { emptyAsNull } from '../../lib/changes.ts';
import { dryRun } from '../../lib/dry-run.ts';
import { remembered } from '../../lib/place.ts';
import { given, useFilters } from '../../lib/search.ts';
import { CheckField, type Form, TextField } from '../../ui/field.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { usePaging } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';

const ORDERS = [
  { value: 'name.asc', text: 'by name' },
  { value: 'created_at.asc', text: 'oldest first' },
];

export function Projects() {
  const { name, order_by } = useFilters();
  const params = {
    query: { ...usePaging(), ...given({ name, order_by: order_by as 'name.asc' }) },
  };
  const read = $api.useQuery('get', '/cloud/v1/projects', { params });
  return (
    <ListPage
      title="Projects"
      call={callOf('get', '/cloud/v1/projects', { params })}
      read={read}
      keyOf={({ id }) => id}
      actions={
        <FormDrawer
          operation="createProject"
          label="Create project"
          title="Create a project"
          tone="primary"
          initial={{ name: '', description: '' }}
          apply="Create"
          call={({ name, description }) =>
            callOf('post', '/cloud/v1/projects', { body: { name, ...(description && { description }) } })
          }
        >
          {(form) => <ProjectFields {...form} />}
        </FormDrawer>
      }
      filters={
        <>
          <TextFilter name="name" label="Exact name" />
          <ChoiceFilter name="order_by" label="Order" none="newest first" options={ORDERS} />
        </>
      }
      columns={[
        {
          name: 'Name',
          show: ({ id, name, is_default }) => (
            <span className="row">
              <Link to="/p/$project/r/$region" params={{ project: id, region: remembered().region }}>
                {name}
              </Link>
              {is_default && <span className="badge">default</span>}
            </span>
          ),
        },
        { name: 'ID', show: ({ id }) => <code>{id}</code> },
        { name: 'State', show: ({ state }) => <State of={state} /> },
        { name: 'Description', show: ({ description }) => description },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
        { name: 'Actions', show: (project) => <Actions of={project} /> },
      ]}
      empty={name ? 'No project has this name.' : 'There is no project that you may see.'}
    />
  );
}

interface Fields {
  name: string;
  description: string;
}

function ProjectFields({ field }: Form<Fields>) {
  return (
    <>
      <TextField label="Name" required {...field('name')} />
      <TextField label="Description" {...field('description')} />
    </>
  );
}

interface Project {
  id: number;
  name: string;
  description: string | null;
  is_default: boolean;
}

function Actions({ of: { id, name, description, is_default } }: { of: Project }) {
  return (
    <span className="row">
      <FormDrawer
        operation="updateProject"
        project={id}
        label="Change"
        title={`Change project ${name}`}
        initial={{ name, description: description ?? '' }}
        apply="Change"
        edits
        call={(_, { name, ...others }) =>
          callOf('patch', '/cloud/v1/projects/{project_id}', {
            params: { path: { project_id: id } },
            body: { ...given({ name }), ...emptyAsNull(others) },
          })
        }
      >
        {(form) => <ProjectFields {...form} />}
      </FormDrawer>
      <FormDrawer
        operation="deleteProjectWithContents"
        project={id}
        label="Delete"
        title={`Delete project ${name}?`}
        tone="danger"
        disabled={is_default ? 'The default project of an account can’t be deleted' : undefined}
        initial={{ contents: false }}
        apply="Delete"
        call={({ contents }) =>
          callOf('delete', '/tradewind/v1/projects/{project_id}', {
            params: { path: { project_id: id }, query: { contents } },
          })
        }
      >
        {({ field }) => (
          <>
            <Contents project={id} />
            <CheckField
              label="Delete everything in it, too"
              {...field('contents')}
              help="Without it, the project has to be empty. From then on it takes in nothing new, and a task deletes what is there."
            />
          </>
        )}
      </FormDrawer>
    </span>
  );
}

/** What would go with the project: what keeps the API from deleting the project alone. */
function Contents({ project }: { project: number }) {
  const { data } = useQuery({
    queryKey: ['contents', project],
    gcTime: 0,
    queryFn: async () => {
      try {
        await dryRun(
          callOf('delete', '/cloud/v1/projects/{project_id}', { params: { path: { project_id: project } } }),
        );
        return 'There is nothing in it.';
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) return `${error.message.split(';')[0]}.`;
        throw error;
      }
    },
  });
  return <p role="status">{data ?? 'Asking what is in it …'}</p>;
}
