// The sandbox does not let programs list the network interfaces. A dev server that prints its addresses finds none.
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
const list = os.networkInterfaces;
os.networkInterfaces = () => {
  try {
    return list();
  } catch {
    return {};
  }
};
syncBuiltinESMExports();
