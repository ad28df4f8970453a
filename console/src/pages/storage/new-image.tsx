import { Link, useNavigate } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { given } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { CheckField, SelectField, TextField, useForm } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { StoragePrice } from './price.tsx';

const CHOICES = 1_000;
const SSH_KEYS = { allow: 'may have one', required: 'needs one', deny: 'can’t have one' };

/** Makes an image of a volume or of what is at an address. */
export function NewImage() {
  const place = usePlace() as Place;
  const navigate = useNavigate();
  const { values, field, take, clear } = useForm({
    source: 'volume',
    name: '',
    volume_id: '',
    url: '',
    os_distro: '',
    os_version: '',
    cow_format: false,
    os_type: 'linux',
    architecture: 'x86_64',
    hw_firmware_type: 'bios',
    hw_machine_type: 'q35',
    ssh_key: 'allow',
    is_baremetal: false,
  });
  const { source, volume_id, url, os_distro, os_version, cow_format, ...common } = values;
  const ofVolume = source === 'volume';
  const volumes = $api.useQuery(
    'get',
    '/cloud/v1/volumes/{project_id}/{region_id}',
    { params: { path: pathOf(place), query: { limit: CHOICES, bootable: true } } },
    { enabled: ofVolume },
  );
  const volume = volumes.data?.results.find(({ id }) => id === volume_id);
  const params = { path: pathOf(place) };
  const call = ofVolume
    ? callOf('post', '/cloud/v1/images/{project_id}/{region_id}', { params, body: { ...common, volume_id } as never })
    : callOf('post', '/cloud/v1/downloadimage/{project_id}/{region_id}', {
        params,
        body: { ...common, url, cow_format, ...given({ os_distro, os_version }) } as never,
      });
  return (
    <Page
      title="Create an image"
      crumbs={[
        <Link key="images" to="/p/$project/r/$region/images" params={place}>
          Images
        </Link>,
        'New',
      ]}
      actions={<AsCode calls={[call]} />}
    >
      <div className="beside">
        <form className="form" onSubmit={(event) => event.preventDefault()}>
          <TextField label="Name" {...field('name')} required />
          <SelectField
            label="Made from"
            options={[
              { value: 'volume', text: 'a volume' },
              { value: 'url', text: 'what is at an address' },
            ]}
            {...field('source')}
          />
          {ofVolume ? (
            <SelectField
              label="Volume"
              options={[
                {
                  value: '',
                  text: volumes.data?.results.length === 0 ? 'There is none that machines start from' : 'Choose one',
                },
                ...(volumes.data?.results ?? []).map(({ id, name, size }) => ({
                  value: id,
                  text: `${name} (${size} GiB)`,
                })),
              ]}
              help="Only those that machines start from."
              {...field('volume_id')}
              required
            />
          ) : (
            <>
              <TextField
                label="Address"
                type="url"
                placeholder="https://images.example.com/debian-13-x86_64.qcow2"
                help="What may be secret in it is never shown."
                {...field('url')}
                required
              />
              <div className="field-pair">
                <TextField label="Distribution" placeholder="debian" {...field('os_distro')} />
                <TextField label="Version" placeholder="13" {...field('os_version')} />
              </div>
              <CheckField
                label="Volumes share its data"
                help="It can then be deleted only after all of them."
                {...field('cow_format')}
              />
            </>
          )}
          <div className="field-pair">
            <SelectField
              label="System"
              options={optionsOf({ linux: 'Linux', windows: 'Windows' })}
              {...field('os_type')}
            />
            <SelectField label="Architecture" options={optionsOf(['x86_64', 'aarch64'])} {...field('architecture')} />
            <SelectField
              label="Firmware"
              options={optionsOf({ bios: 'BIOS', uefi: 'UEFI' })}
              {...field('hw_firmware_type')}
            />
            <SelectField label="Chipset" options={optionsOf(['q35', 'i440'])} {...field('hw_machine_type')} />
            <SelectField label="SSH key of a machine" options={optionsOf(SSH_KEYS)} {...field('ssh_key')} />
          </div>
          <CheckField label="For bare metal" {...field('is_baremetal')} />
          <div className="row">
            <Review
              key={source}
              operation={ofVolume ? 'createImage' : 'downloadImage'}
              label="Create"
              title="Create this image?"
              tone="primary"
              call={() => {
                clear();
                return call;
              }}
              onRefused={take}
              onApplied={() => void navigate({ to: '/p/$project/r/$region/images', params: place })}
            />
          </div>
        </form>
        <StoragePrice
          place={place}
          kind="images"
          of={ofVolume && volume ? { size: volume.size } : undefined}
          unasked={ofVolume ? 'Choose a volume to see the price.' : 'The price follows from the size, once it is here.'}
        />
      </div>
    </Page>
  );
}
