import { FAULTS } from './faults.ts';
import { walkModules } from './walk.ts';

walkModules({
  name: 'v2',
  client: 'Generated Terraform provider',
  version: '2.0.0-alpha.11',
  variable: 'TRADEWIND_TEST_PROVIDER_V2',
  environment: ({ url, token, projectId }) => ({
    GCORE_BASE_URL: url,
    GCORE_API_KEY: token,
    TF_VAR_project_id: String(projectId),
    TF_VAR_region_id: '1',
  }),
  faults: FAULTS.v2,
});
