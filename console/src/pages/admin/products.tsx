import type { ReactNode } from 'react';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { type Read, Table } from '../../ui/table.tsx';

type Product = components['schemas']['ProductAvailability'];

function ProductTable({
  caption,
  read,
  actions,
}: {
  caption: string;
  read: Read<Product>;
  actions: (of: Product) => ReactNode;
}) {
  return (
    <Table
      caption={caption}
      read={read}
      keyOf={({ product_name }) => product_name}
      columns={[
        { name: 'Product', show: ({ product_name }) => product_name },
        { name: 'State', show: ({ available }) => <State of={available ? 'available' : 'not available'} /> },
        { name: 'Actions', show: actions },
      ]}
      empty={<p>There are no products.</p>}
    />
  );
}

const CLIENT_PRODUCTS = '/iam/products/availability/clients/{clientId}';

/** Which products a client may have. */
export function Products({ clientId }: { clientId: number }) {
  const params = { path: { clientId } };
  const read = $api.useQuery('get', CLIENT_PRODUCTS, { params });
  return (
    <Section
      title="Products"
      aside={<span className="muted">Which it may have. What is available is switched on above.</span>}
    >
      <ProductTable
        caption="Products of the client"
        read={read}
        actions={({ product_name, available }) => (
          <span className="row">
            <Review
              operation="setClientProduct"
              label={available ? 'Withhold' : 'Offer'}
              title={`${available ? 'Withhold' : 'Offer'} ${product_name}?`}
              call={() => callOf('patch', CLIENT_PRODUCTS, { params, body: { product_name, available: !available } })}
            />
            <Review
              operation="resetClientProducts"
              label="As the default"
              title={`Let the default count for ${product_name}?`}
              call={() => callOf('delete', CLIENT_PRODUCTS, { params, body: { product_names: [product_name] } })}
            />
          </span>
        )}
      />
    </Section>
  );
}

const DEFAULTS = '/iam/products/availability/defaults';

/** What clients may have for whom nothing else was set. */
export function DefaultProducts() {
  const read = $api.useQuery('get', DEFAULTS, {});
  const refusal = useRefusal()('resetAllProducts');
  return (
    <Page
      title="Products"
      actions={
        <>
          {refusal === undefined && (
            <Review
              operation="resetAllProducts"
              label="Let the defaults count for all"
              title="Forget what was set for single clients?"
              call={() =>
                callOf('delete', '/iam/products/availability/clients', {
                  body: { product_names: (read.data ?? []).map(({ product_name }) => product_name) },
                })
              }
            />
          )}
          <AsCode calls={[callOf('get', DEFAULTS, {})]} />
        </>
      }
    >
      <p className="muted">
        These count for clients for whom nothing else was set. A new client begins without what it may not have.
      </p>
      <ProductTable
        caption="Products by default"
        read={read}
        actions={({ product_name, available }) => (
          <Review
            operation="setDefaultProduct"
            label={available ? 'Withhold' : 'Offer'}
            title={`${available ? 'Withhold' : 'Offer'} ${product_name} by default?`}
            call={() => callOf('patch', DEFAULTS, { body: { product_name, available: !available } })}
          />
        )}
      />
    </Page>
  );
}
