import { Link, useNavigate } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { CheckField, NumberField, SelectField, TextField, useForm } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { StoragePrice } from './price.tsx';

const TYPES = {
  standard: 'standard: in one of your networks',
  vast: 'vast: fast, for clusters with GPUs',
};
type Type = keyof typeof TYPES;

/** By the names of the API in what it says is wrong. */
interface Entered {
  name: string;
  type_name: Type | '';
  size: number | undefined;
  'network.network_id': string;
  'access.0.ip_address': string;
  'access.0.access_mode': string;
  'share_settings.root_squash': boolean;
  'share_settings.path_length': string;
  'share_settings.allowed_characters': string;
}
const SIGNS = [
  { value: '', text: 'the usual ones' },
  { value: 'LCD', text: 'what every client supports' },
  { value: 'NPL', text: 'all that the protocol allows' },
];
const CHOICES = 1_000;

/** Makes a file share, with its price beside what is typed. */
export function NewFileShare() {
  const place = usePlace() as Place;
  const navigate = useNavigate();
  const { values, field, take, clear } = useForm<Entered>({
    name: '',
    type_name: '',
    size: 20,
    'network.network_id': '',
    'access.0.ip_address': '',
    'access.0.access_mode': 'rw',
    'share_settings.root_squash': true,
    'share_settings.path_length': '',
    'share_settings.allowed_characters': '',
  });
  const { name, size } = values;
  const region = $api.useQuery('get', '/cloud/v1/regions/{region_id}', {
    params: { path: { region_id: place.region } },
  });
  const offered = region.data?.file_share_types ?? [];
  // What the region has, until another one is chosen.
  const type_name = values.type_name || (offered.includes('standard') ? 'standard' : (offered[0] ?? 'standard'));
  const isStandard = type_name === 'standard';
  const networks = $api.useQuery(
    'get',
    '/cloud/v1/networks/{project_id}/{region_id}',
    { params: { path: pathOf(place), query: { limit: CHOICES, external: false } } },
    { enabled: isStandard },
  );
  const address = values['access.0.ip_address'];
  const [path_length, allowed_characters] = [
    values['share_settings.path_length'],
    values['share_settings.allowed_characters'],
  ];
  const body = {
    name,
    protocol: 'NFS',
    size,
    type_name,
    ...(isStandard
      ? {
          network: { network_id: values['network.network_id'] },
          ...(address && { access: [{ ip_address: address, access_mode: values['access.0.access_mode'] }] }),
        }
      : {
          share_settings: {
            root_squash: values['share_settings.root_squash'],
            ...(path_length && { path_length }),
            ...(allowed_characters && { allowed_characters }),
          },
        }),
  };
  const call = callOf('post', '/cloud/v1/file_shares/{project_id}/{region_id}', {
    params: { path: pathOf(place) },
    body: body as never,
  });
  return (
    <Page
      title="Create a file share"
      crumbs={[
        <Link key="shares" to="/p/$project/r/$region/file-shares" params={place}>
          File shares
        </Link>,
        'New',
      ]}
      actions={<AsCode calls={[call]} />}
    >
      <div className="beside">
        <form className="form" onSubmit={(event) => event.preventDefault()}>
          <TextField label="Name" {...field('name')} required />
          <SelectField
            label="Type"
            options={offered.map((type) => ({ value: type, text: TYPES[type] }))}
            help={region.data && offered.length === 0 && 'This region offers none.'}
            {...field('type_name')}
            value={type_name}
            onChange={(type) => field('type_name').onChange(type as Type)}
          />
          <NumberField label="Size in GiB" {...field('size')} min={1} required />
          {isStandard ? (
            <>
              <SelectField
                label="Network"
                options={[
                  { value: '', text: networks.data?.results.length === 0 ? 'This project has none' : 'Choose one' },
                  ...(networks.data?.results ?? []).map(({ id, name }) => ({ value: id, text: name })),
                ]}
                help="The share gets an address in its first subnet."
                {...field('network.network_id')}
                required
              />
              <div className="field-pair">
                <TextField
                  label="Who may mount it"
                  placeholder="10.0.0.0/24"
                  help="An address or a range. Nobody if empty. More can follow later."
                  {...field('access.0.ip_address')}
                />
                <SelectField
                  label="They may"
                  options={[
                    { value: 'rw', text: 'read and write' },
                    { value: 'ro', text: 'only read' },
                  ]}
                  {...field('access.0.access_mode')}
                />
              </div>
            </>
          ) : (
            <>
              <CheckField
                label="Treat root as nobody"
                help="Slurm needs a share without this, and with all that the protocol allows below."
                {...field('share_settings.root_squash')}
              />
              <div className="field-pair">
                <SelectField label="Length of paths" options={SIGNS} {...field('share_settings.path_length')} />
                <SelectField
                  label="Characters in names"
                  options={SIGNS}
                  {...field('share_settings.allowed_characters')}
                />
              </div>
            </>
          )}
          <div className="row">
            <Review
              operation="createFileShare"
              label="Create"
              title="Create this file share?"
              tone="primary"
              call={() => {
                clear();
                return call;
              }}
              onRefused={take}
              onApplied={() => void navigate({ to: '/p/$project/r/$region/file-shares', params: place })}
            />
          </div>
        </form>
        <StoragePrice
          place={place}
          kind="file_shares"
          of={size === undefined ? undefined : { source: 'new-file-share', size, type_name }}
        />
      </div>
    </Page>
  );
}
