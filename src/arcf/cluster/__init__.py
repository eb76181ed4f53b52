"""Many machines: what is done on a Ray cluster; needs the extra `scale`."""

from arcf.cluster.connection import HERE, connected
from arcf.cluster.folder import Folder, pack
from arcf.cluster.pool import Pool, PoolSettings
from arcf.cluster.tasks import RayExecutor
from arcf.cluster.worker import Work

__all__ = ["HERE", "Folder", "Pool", "PoolSettings", "RayExecutor", "Work", "connected", "pack"]
