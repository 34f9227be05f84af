"""torchvision, of which only `transforms` is here."""

from torchvision import transforms as transforms
