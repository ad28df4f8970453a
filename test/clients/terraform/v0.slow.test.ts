import { FAULTS } from './faults.ts';
import { walkModules } from './walk.ts';

walkModules({
  name: 'v0',
  client: 'Classic Terraform provider',
  version: '0.34.3',
  variable: 'TRADEWIND_TEST_PROVIDER_V0',
  environment: ({ url, token, projectId, projectName }) => ({
    GCORE_API_ENDPOINT: url,
    GCORE_PERMANENT_TOKEN: token,
    TF_VAR_project_id: String(projectId),
    TF_VAR_project_name: projectName,
    TF_VAR_region_id: '1',
  }),
  faults: FAULTS.v0,
});
